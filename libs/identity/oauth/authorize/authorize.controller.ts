import { Body, Controller, Get, HttpCode, Inject, Post, Query, Req, Res, UseFilters } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import {
  ConfigureRoute,
  CurrentActor,
  LimitAccessChanges,
  Page,
  RequireRecentSignIn,
  verifyCurrentAccess,
  type Actor,
} from '#api/access';
import { LOGIN_SERVICE } from '#api/edge';
import { Clock, Ids } from '#platform/kernel';
import { PageRefusalFilter, parseForm, redirectToPage, renderMessagePage, sendPage } from '#api/pages';
import { computeExpiry } from '#identity/people';
import { Database } from '#platform/postgres';
import { storeAuthorizationCode } from '../codes/authorization-codes.queries.js';
import { DENIED_CODE } from '../grants/authorization-code.grant.js';
import { OAUTH_OPTIONS, type OauthOptions } from '../oauth.options.js';
import { toErrorDescription } from '#api/json-api';
import { parseAuthorization, type ParsedAuthorization } from '../codes/authorization-request.js';
import { renderConsentPage } from './consent.renderer.js';

export const decisionForm = z.object({ decision: z.enum(['approve', 'deny']) });

type Target = { readonly redirectUri: string; readonly state: string | null };
type Untrusted = Extract<ParsedAuthorization, { kind: 'untrusted' }>;
type Refused = Extract<ParsedAuthorization, { kind: 'refused' }>;

/** The page on which a person approves that a program gets a token (RFC 6749 §4.1). */
@Controller('oauth/authorize')
@UseFilters(PageRefusalFilter)
export class AuthorizeController {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly ids: Ids,
    @Inject(OAUTH_OPTIONS) private readonly options: OauthOptions,
  ) {}

  @Get()
  @RequireRecentSignIn()
  @Page()
  async show(
    @Query() query: Readonly<Record<string, unknown>>,
    @CurrentActor() actor: Actor,
    @Req() { url }: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string | void> {
    const parsed = parseAuthorization(query, LOGIN_SERVICE);
    if (parsed.kind !== 'valid') return this.refuse(reply, actor, parsed);
    await verifyCurrentAccess(this.database, actor);
    const { publicUrl, tokenLifetime } = this.options;
    const page = renderConsentPage({
      username: actor.name,
      host: new URL(publicUrl).host,
      redirectUri: parsed.redirectUri,
      expiredAt: computeExpiry(tokenLifetime, this.clock.now()),
      path: url,
    });
    return sendPage(reply, 200, page);
  }

  /** The address of the form contains the request of the program, like that of the page. */
  @Post()
  @HttpCode(303)
  @LimitAccessChanges()
  @RequireRecentSignIn()
  @ConfigureRoute({ bodyLimit: 1_024 })
  @Page({ reopens: true })
  async decide(
    @Query() query: Readonly<Record<string, unknown>>,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string | void> {
    const { decision } = parseForm(decisionForm, body);
    const parsed = parseAuthorization(query, LOGIN_SERVICE);
    if (parsed.kind !== 'valid') return this.refuse(reply, actor, parsed);
    if (decision === 'deny') {
      const error = { error: 'access_denied', error_description: 'The login was denied in the browser.' };
      return this.redirect(reply, parsed, { ...error, code: DENIED_CODE });
    }
    const code = this.ids.secret();
    await storeAuthorizationCode(this.database, actor, parsed, { code, now: this.clock.now() });
    return this.redirect(reply, parsed, { code });
  }

  private refuse(reply: FastifyReply, actor: Actor, parsed: Untrusted | Refused): string | void {
    if (parsed.kind === 'refused') {
      const { error, problem } = parsed;
      return this.redirect(reply, parsed, { error, error_description: toErrorDescription(problem) });
    }
    const page = renderMessagePage({
      title: 'This login cannot continue',
      username: actor.name,
      messages: [
        'The address of this page is not one that “terraform login” or “tofu login” opens. Start the login again.',
        parsed.problem,
      ],
      link: { path: '/account', text: 'Go to your account' },
    });
    return sendPage(reply, 400, page);
  }

  /** Sends the browser back to the program. `iss` names the server (RFC 9207). */
  private redirect(
    reply: FastifyReply,
    { redirectUri, state }: Target,
    answer: Readonly<Record<string, string>>,
  ): void {
    const target = new URL(redirectUri);
    const parameters = { ...answer, ...(state === null ? {} : { state }), iss: this.options.publicUrl };
    for (const [name, value] of Object.entries(parameters)) target.searchParams.set(name, value);
    redirectToPage(reply, target.href);
  }
}
