import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  describeRequest,
  getClientAddress,
  getCredential,
  type AuthenticatedRequest,
  type Authenticator,
  type DocumentKind,
  type Identity,
  type RouteOptions,
} from '#api/access';
import {
  cacheMetrics,
  findDocumentScope,
  type DocumentMemory,
  type PlannedRead,
  type ReadTicket,
  type ResourceKeys,
} from '#api/document-cache';
import { JSON_API } from '#api/json-api';

/** A request whose response may be kept, and the caller that its handler answers. */
type PendingRead = { readonly ticket: ReadTicket; readonly identity: Identity; readonly actor: object };

const PENDING = Symbol('read whose response may be kept');

type RequestWithRead = AuthenticatedRequest & { [PENDING]?: PendingRead };

type Next = (error?: Error) => void;

/** Longer addresses are not kept. The first pages of lists have fewer characters. */
const MAX_URL = 500;

const OK = 200;

/** As Fastify sends the documents of handlers. */
const CONTENT_TYPE = `${JSON_API}; charset=utf-8`;

const results = {
  hit: () => cacheMetrics.requests.inc({ result: 'hit' }),
  read: () => cacheMetrics.requests.inc({ result: 'read' }),
  miss: () => cacheMetrics.requests.inc({ result: 'miss' }),
  outdated: () => cacheMetrics.requests.inc({ result: 'outdated' }),
};

/** A change that the first check reports can make it necessary to read a resource again. */
const MAX_CHECKS = 2;

const isNone = ({ ids, names }: ResourceKeys): boolean => ids.length === 0 && names.length === 0;

/** A request with the caller that it is checked for. */
type CheckedRequest = {
  readonly memory: DocumentMemory;
  readonly identity: Identity;
  readonly kind: DocumentKind;
  readonly request: AuthenticatedRequest;
  readonly reply: FastifyReply;
  readonly next: Next;
};

/**
 * Answers GETs of routes with a document kind from memory, without Nest and its handlers: with a kept response, or with
 * one that is made of kept resources. The check of the barrier also reads resources that are missing. Every other request
 * continues, and its response is kept.
 */
class KeptDocuments {
  /** Undefined until the first request, because modules are created after the hooks. */
  private memory: DocumentMemory | null | undefined;

  constructor(
    private readonly authenticator: () => Authenticator,
    private readonly findMemory: () => DocumentMemory | null,
  ) {}

  answer(kind: DocumentKind, request: AuthenticatedRequest, reply: FastifyReply, next: Next): void {
    const memory = this.memory === undefined ? (this.memory = this.findMemory()) : this.memory;
    const credential = getCredential(request);
    const { url } = request;
    if (!memory || credential === undefined || request.method !== 'GET' || url.length > MAX_URL) return next();
    const identity = this.authenticator().findCachedIdentity(credential, getClientAddress(request) ?? '');
    // The access of a run depends on rows of its own workspace, and each run has a token of its own.
    if (!identity || identity.kind === 'run' || identity.kind === 'scim' || !memory.barrier.isOpen) return next();
    request.credential = credential;
    request.actor = { ...identity, request: describeRequest(request) };
    const checked = { memory, identity, kind, request, reply, next };
    if (!this.sendKept(checked)) this.sendRendered(checked);
  }

  /** Returns false if no response is kept. */
  private sendKept(checked: CheckedRequest): boolean {
    const { memory, identity, request, reply, next } = checked;
    const document = memory.documents.find(identity, request.url);
    if (!document) return false;
    memory.barrier.pass(identity, (isCurrent) => {
      if (isCurrent && document.isCurrent) {
        results.hit();
        void reply.header('content-type', document.contentType).send(document.body);
      } else if (isCurrent) {
        this.sendRendered(checked);
      } else {
        results.outdated();
        this.expect(memory, identity, request, next);
      }
    });
    return true;
  }

  /** Sends a response that is made of kept resources, or lets the handler respond. */
  private sendRendered(checked: CheckedRequest): void {
    const { memory, identity, kind, request, next } = checked;
    const planned = memory.resources?.plan(kind, identity, request);
    if (planned) return this.check(checked, planned, MAX_CHECKS);
    results.miss();
    this.expect(memory, identity, request, next);
  }

  private check(checked: CheckedRequest, planned: PlannedRead, checks: number): void {
    const missing = planned.listMissing();
    const wasComplete = isNone(missing);
    const onChecked = (isCurrent: boolean): void => {
      const body = isCurrent ? planned.render() : null;
      if (body) {
        (wasComplete ? results.hit : results.read)();
        return this.send(checked, planned, body);
      }
      // A change that the check has reported dropped what the response needs. Other resources do not exist.
      const isDropped = isCurrent && (wasComplete || planned.scope !== null) && !isNone(planned.listMissing());
      if (isDropped && checks > 1) return this.check(checked, planned, checks - 1);
      results.outdated();
      this.expect(checked.memory, checked.identity, checked.request, checked.next);
    };
    checked.memory.barrier.pass(checked.identity, onChecked, missing);
  }

  private send({ memory, identity, kind, request, reply }: CheckedRequest, { scope }: PlannedRead, body: Buffer): void {
    void reply.header('content-type', CONTENT_TYPE).send(body);
    if (scope)
      memory.documents.keepRepeated({ identity, url: request.url, body, contentType: CONTENT_TYPE, kind, scope });
  }

  keep(kind: DocumentKind, request: RequestWithRead, reply: FastifyReply, body: unknown): void {
    const read = request[PENDING];
    // After a change of access the request has been repeated for another actor.
    if (!read || reply.statusCode !== OK || typeof body !== 'string' || request.actor !== read.actor) return;
    const scope = findDocumentScope(request.actor);
    if (!scope) return;
    const contentType = String(reply.getHeader('content-type'));
    const { ticket, identity } = read;
    this.memory?.documents.keep(ticket, {
      identity,
      url: request.url,
      body: Buffer.from(body),
      contentType,
      kind,
      scope,
    });
  }

  private expect({ documents }: DocumentMemory, identity: Identity, request: RequestWithRead, next: Next): void {
    request[PENDING] = { ticket: documents.createTicket(), identity, actor: request.actor as object };
    next();
  }
}

/** Keeps responses of routes with a document kind. Register it after all other hooks for `onRequest`. */
export const answerFromMemory = (
  fastify: FastifyInstance,
  authenticator: () => Authenticator,
  findMemory: () => DocumentMemory | null,
): void => {
  const keptDocuments = new KeptDocuments(authenticator, findMemory);
  fastify.addHook('onRoute', (route) => {
    const { document } = (route.config ?? {}) as RouteOptions;
    if (!document || route.method !== 'GET') return;
    route.onRequest = [
      ...[route.onRequest ?? []].flat(),
      (request: FastifyRequest, reply: FastifyReply, next: Next) =>
        keptDocuments.answer(document, request, reply, next),
    ];
    route.onSend = [
      ...[route.onSend ?? []].flat(),
      (request: FastifyRequest, reply: FastifyReply, body: unknown, done: () => void) => {
        keptDocuments.keep(document, request, reply, body);
        done();
      },
    ];
  });
};
