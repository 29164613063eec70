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
import { cacheMetrics, findDocumentScope, type DocumentMemory, type ReadTicket } from '#api/document-cache';

/** A request whose response may be kept, and the caller that its handler answers. */
type PendingRead = { readonly ticket: ReadTicket; readonly identity: Identity; readonly actor: object };

type Next = (error?: Error) => void;

/** Longer addresses are not kept. The first pages of lists have fewer characters. */
const MAX_URL = 500;

const OK = 200;

const results = {
  hit: () => cacheMetrics.requests.inc({ result: 'hit' }),
  miss: () => cacheMetrics.requests.inc({ result: 'miss' }),
  outdated: () => cacheMetrics.requests.inc({ result: 'outdated' }),
};

/**
 * Answers GETs of routes with a document kind from memory, without Nest and its handlers. Every other request continues,
 * and its response is kept.
 */
class KeptDocuments {
  private readonly pending = new WeakMap<FastifyRequest, PendingRead>();

  /** Undefined until the first request, because modules are created after the hooks. */
  private memory: DocumentMemory | null | undefined;

  constructor(
    private readonly authenticator: () => Authenticator,
    private readonly findMemory: () => DocumentMemory | null,
  ) {}

  answer(request: AuthenticatedRequest, reply: FastifyReply, next: Next): void {
    const memory = this.memory === undefined ? (this.memory = this.findMemory()) : this.memory;
    const credential = getCredential(request);
    const { url } = request;
    if (!memory || credential === undefined || request.method !== 'GET' || url.length > MAX_URL) return next();
    const identity = this.authenticator().findCachedIdentity(credential, getClientAddress(request) ?? '');
    // The access of a run depends on rows of its own workspace, and each run has a token of its own.
    if (!identity || identity.kind === 'run' || identity.kind === 'scim' || !memory.barrier.isOpen) return next();
    request.credential = credential;
    request.actor = { ...identity, request: describeRequest(request) };
    const document = memory.documents.find(identity, url);
    if (!document) {
      results.miss();
      return this.expect(memory, identity, request, next);
    }
    memory.barrier.pass(identity, (isCurrent) => {
      if (isCurrent && document.isCurrent) {
        results.hit();
        void reply.header('content-type', document.contentType).send(document.body);
      } else {
        results.outdated();
        this.expect(memory, identity, request, next);
      }
    });
  }

  keep(kind: DocumentKind, request: AuthenticatedRequest, reply: FastifyReply, body: unknown): void {
    const read = this.pending.get(request);
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

  private expect({ documents }: DocumentMemory, identity: Identity, request: AuthenticatedRequest, next: Next): void {
    this.pending.set(request, { ticket: documents.createTicket(), identity, actor: request.actor as object });
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
      (request: FastifyRequest, reply: FastifyReply, next: Next) => keptDocuments.answer(request, reply, next),
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
