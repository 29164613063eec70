import { Controller, Get, Param, Query, Req, Res, UseFilters } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CurrentActor, Page, type Actor } from '#api/access';
import { PageRefusalFilter, redirectToPage, renderMessagePage, sendPage } from '#api/pages';
import { notFound, Refusal } from '#platform/kernel';
import { Database } from '#platform/postgres';
import { buildAuthorizationAddress } from '#vcs/git-hosts';
import { Connections, requireConnectedProvider } from './connections.service.js';
import { getCallbackPath } from './oauth-clients.document.js';
import { ChangeOauthClient } from './oauth-clients.handler.js';
import { findOauthClient, type OauthClientRow } from './oauth-clients.view.js';
import { PendingAuthorizations } from './pending-authorizations.service.js';

const getScreenPath = ({ organizationName }: OauthClientRow): string =>
  `/app/${organizationName}/settings/version-control`;

/** Codes are shorter on all hosts. */
const CODE = /^[\x21-\x7e]{1,4096}$/;

/** `none`: a person has entered the address. Old browsers send no such header. */
const STARTS_HERE: ReadonlySet<unknown> = new Set(['same-origin', 'none', undefined]);

/** Pages between this server and Git hosts, on which a person lets a connection use their account at the host. */
@Controller('auth/vcs')
@UseFilters(PageRefusalFilter)
export class HostAuthorizationsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly connections: Connections,
    private readonly pending: PendingAuthorizations,
  ) {}

  @Get(':id')
  @Page()
  async start(
    @Param('id') id: string,
    @Req() { headers, publicUrl }: FastifyRequest,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    const client = await findOauthClient(this.database, actor, 'manage-vcs-connections', id);
    const { key, httpUrl } = client;
    if (key === null) throw notFound('The connection has an access token, and needs no authorization in a browser');
    // A host may not ask again. Another site must not replace the account of the connection with that of a person.
    if (!STARTS_HERE.has(headers['sec-fetch-site'])) return redirectToPage(reply, getScreenPath(client));
    const { state, challenge, cookie } = this.pending.start(id, actor);
    void reply.header('set-cookie', cookie);
    const application = { provider: requireConnectedProvider(client.serviceProvider), httpUrl, key };
    const redirectUri = new URL(getCallbackPath(client), publicUrl).href;
    redirectToPage(reply, buildAuthorizationAddress(application, { redirectUri, state, challenge }));
  }

  @Get('callback/:host')
  @Page()
  async finish(
    @Param('host') host: string,
    @Query() { state, code, error }: Readonly<Record<string, unknown>>,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string | void> {
    const pending = await this.pending.use(request.headers.cookie, state, actor);
    void reply.header('set-cookie', this.pending.forget());
    if (pending === null) return this.refuse(reply, actor, 'Please start again', EXPIRED, '/app');
    const client = await findOauthClient(this.database, actor, 'manage-vcs-connections', pending.client);
    const path = getScreenPath(client);
    // The answer of another host than the connection has.
    if (new URL(client.httpUrl).host !== host) return this.refuse(reply, actor, 'Please start again', EXPIRED, path);
    if (typeof code !== 'string' || !CODE.test(code))
      return this.refuse(reply, actor, ...describeDenial(host, error), path);
    try {
      const redirectUri = new URL(getCallbackPath(client), request.publicUrl).href;
      const granted = await this.connections.exchangeCode(client, { code, redirectUri, verifier: pending.verifier });
      await this.bus.execute(new ChangeOauthClient('AuthorizeOauthClient', { id: client.id, granted, actor }));
    } catch (failure) {
      if (!(failure instanceof Refusal) || failure.kind === 'not-found') throw failure;
      return this.refuse(reply, actor, `${host} granted no token`, failure.message, path);
    }
    return redirectToPage(reply, path);
  }

  private refuse(reply: FastifyReply, { name }: Actor, title: string, message: string, path: string): string {
    const link = { path, text: 'Go to the console' };
    return sendPage(reply, 400, renderMessagePage({ title, username: name, messages: [message], link }));
  }
}

const EXPIRED =
  'The authorization took longer than 10 minutes, has ended already, or started in another browser or for another host.';

const describeDenial = (host: string, error: unknown): readonly [title: string, message: string] =>
  error === 'access_denied'
    ? [`${host} was not connected`, 'The authorization was denied on the Git host. Nothing has changed.']
    : [`${host} granted no token`, 'Check the callback URL and the scopes of the OAuth application on the Git host.'];
