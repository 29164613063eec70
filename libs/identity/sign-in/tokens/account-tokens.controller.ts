import { Body, Controller, Get, HttpCode, Inject, Param, Post, Query, Res, UseFilters } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import {
  CurrentActor,
  hasRecentSignIn,
  LimitAccessChanges,
  Page,
  TOKEN_ACCESS,
  UNRESTRICTED,
  type Actor,
} from '#api/access';
import { parsePage, type QueryParameters as QueryOf } from '#api/json-api';
import { Clock, Refusal, unprocessable } from '#platform/kernel';
import { PageRefusalFilter, parseForm, redirectToPage, sendPage, type HtmlPage } from '#api/pages';
import { ChangeAuthenticationToken, listTokens, type IssuedToken, type RestrictionInput } from '#identity/people';
import { Database } from '#platform/postgres';
import { DESCRIPTION_MAX, ORGANIZATION_MAX, renderNewTokenPage, renderTokensPage } from './account-tokens.renderer.js';

/** Injection token of the host and port of the server, as clients name it. */
export const SITE_HOST = 'cadastre:site-host';

const LIST_SIZE = 100;
const REVOKED = 'The token is revoked.';

export const newTokenForm = z.object({
  description: z.string().max(1_000),
  access: z.enum(TOKEN_ACCESS).default(UNRESTRICTED.access),
  organization: z.string().max(ORGANIZATION_MAX).default(''),
});
type NewTokenForm = z.infer<typeof newTokenForm>;

const toRestriction = ({ access, organization }: Pick<NewTokenForm, 'access' | 'organization'>): RestrictionInput => ({
  access,
  organization: organization.trim() || null,
});

const checkDescription = (text: string): string => {
  const description = text.trim();
  if (description !== '' && description.length <= DESCRIPTION_MAX) return description;
  throw unprocessable(`The description must have 1 to ${DESCRIPTION_MAX} characters, got ${description.length}`);
};

/** Returns the path of a sign-in that leads back to the form with these values. */
const buildConfirmPath = (form: NewTokenForm): string =>
  `/sign-in?confirm=1&return_to=${encodeURIComponent(`/account/tokens?${new URLSearchParams(form).toString()}`)}`;

/** Returns the initial values of the fields from the query of the page. */
const readFields = (query: QueryOf): NewTokenForm => {
  const parsed = newTokenForm.safeParse({ description: '', ...query });
  return parsed.success ? parsed.data : { description: '', access: UNRESTRICTED.access, organization: '' };
};

/** The page on which people see, create and revoke their tokens. */
@Controller()
@UseFilters(PageRefusalFilter)
export class AccountTokensController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly clock: Clock,
    @Inject(SITE_HOST) private readonly host: string,
  ) {}

  /** The second path is the one that `terraform login` opens for servers without OAuth. */
  @Get(['account/tokens', 'app/settings/tokens'])
  @Page()
  async show(
    @Query() query: QueryOf,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const done = query['done'] === 'revoked' ? REVOKED : null;
    const fields = readFields(query);
    const state = { done, description: fields.description, restriction: toRestriction(fields) };
    return sendPage(reply, 200, await this.renderTokens(actor, query, state));
  }

  @Post('account/tokens')
  @HttpCode(200)
  @LimitAccessChanges()
  @Page()
  async create(
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string | void> {
    const form = parseForm(newTokenForm, body);
    try {
      const description = checkDescription(form.description);
      if (!hasRecentSignIn(actor, this.clock.now())) {
        return redirectToPage(reply, buildConfirmPath({ ...form, description }));
      }
      const token = await this.issue(actor, description, toRestriction(form));
      return sendPage(reply, 200, renderNewTokenPage({ username: actor.name, host: this.host, token }));
    } catch (error) {
      if (!(error instanceof Refusal) || error.kind !== 'unprocessable') throw error;
      const state = { error: error.message, description: form.description, restriction: toRestriction(form) };
      return sendPage(reply, 422, await this.renderTokens(actor, {}, state));
    }
  }

  @Post('account/tokens/:id/revocation')
  @HttpCode(303)
  @LimitAccessChanges()
  @Page()
  async revoke(
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    await this.bus.execute(new ChangeAuthenticationToken('DestroyToken', { target: id, actor }));
    redirectToPage(reply, '/account/tokens?done=revoked');
  }

  private issue(actor: Actor, description: string, restriction: RestrictionInput): Promise<IssuedToken> {
    const owner = { kind: 'user', key: actor.id } as const;
    const token = { description, expiredAt: null };
    const input = { owner, token, restriction, replaces: false, actor };
    return this.bus.execute(new ChangeAuthenticationToken('IssueToken', input));
  }

  private async renderTokens(
    actor: Actor,
    query: QueryOf,
    state: {
      readonly error?: string;
      readonly done?: string | null;
      readonly description?: string;
      readonly restriction?: RestrictionInput;
    },
  ): Promise<HtmlPage> {
    const page = parsePage(query, LIST_SIZE);
    const { rows, total } = await listTokens(this.database, actor, { kind: 'user', key: actor.id }, page);
    const pages = {
      newer: page.number > 1 ? page.number - 1 : null,
      older: page.number * page.size < total ? page.number + 1 : null,
    };
    return renderTokensPage({ username: actor.name, tokens: rows, pages, ...state });
  }
}
