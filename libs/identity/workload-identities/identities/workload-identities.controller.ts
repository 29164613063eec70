import { z } from 'zod';
import { Body, Controller, Delete, Get, HttpCode, Inject, Param, Patch, Post, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { notFound } from '#platform/kernel';
import { Database } from '#platform/postgres';
import {
  toOne,
  type Resource,
  fromAttributes,
  resourceBody,
  text,
  parseBody,
  renderDocument,
  renderList,
  type Document,
} from '#api/json-api';
import { CurrentActor, RequireRecentSignIn, type Actor } from '#api/access';
import { PUBLIC_URL } from '../workload-identities.options.js';
import { type WorkloadIdentityRow, findWorkloadIdentity, listWorkloadIdentities } from './workload-identities.view.js';
import { CLAIM_LIMITS } from './claim-rules.js';
import { TOKEN_MINUTES, type WorkloadIdentityChanges, checkWorkloadIdentity } from './workload-identity.js';
import { ChangeWorkloadIdentity } from './workload-identities.handler.js';

/** `publicUrl` is the audience of identities that name none. */
const renderWorkloadIdentity = (row: WorkloadIdentityRow, publicUrl: string): Resource => ({
  id: row.id,
  type: 'workload-identities',
  attributes: {
    name: row.name,
    description: row.description,
    issuer: row.issuer,
    audience: row.audience ?? publicUrl,
    claims: row.claims,
    'token-minutes': row.tokenMinutes,
    enabled: row.enabled,
    'created-at': row.createdAt,
  },
  relationships: { team: toOne('teams', row.team, `/api/v2/teams/${row.team}`) },
  links: { self: `/api/v2/workload-identities/${row.id}` },
});

const { claims: maxClaims, values: maxValues, nameCharacters, valueCharacters } = CLAIM_LIMITS;

const acceptedValues = z
  .array(text(valueCharacters))
  .min(1, { error: 'needs at least one accepted value' })
  .max(maxValues, { error: `too many, at most ${maxValues} accepted values` });

const claims = z
  .record(
    z.string().max(nameCharacters, { error: `a name is too long, at most ${nameCharacters} characters` }),
    acceptedValues,
  )
  .refine((rules) => Object.keys(rules).length <= maxClaims, { error: `Claims: too many, at most ${maxClaims}` });

const issuer = text(255);

const minutesError = { error: `must be a whole number from ${TOKEN_MINUTES.least} to ${TOKEN_MINUTES.most}` };

const settings = {
  description: text(1_000).nullish(),
  /** Null: the public URL of the server. */
  audience: text(255).nullish(),
  'token-minutes': z.int().min(TOKEN_MINUTES.least, minutesError).max(TOKEN_MINUTES.most, minutesError).optional(),
  enabled: z.boolean().optional(),
};

export const createBody = resourceBody(
  'workload-identities',
  z.object({ name: z.string(), issuer, claims, ...settings }),
);
export const updateBody = resourceBody(
  'workload-identities',
  z
    .object({ name: z.string().optional(), issuer: issuer.optional(), claims: claims.optional(), ...settings })
    .default({}),
);

type WorkloadIdentityAttributes = z.infer<typeof updateBody>['data']['attributes'];

/** Returns the settings that a request names. */
export const toSettings = (attributes: WorkloadIdentityAttributes): WorkloadIdentityChanges =>
  fromAttributes(attributes);

@Controller('api/v2')
export class WorkloadIdentitiesController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    @Inject(PUBLIC_URL) private readonly publicUrl: string,
  ) {}

  @Get('teams/:id/workload-identities')
  list(@Param('id') team: string, @Req() request: FastifyRequest, @CurrentActor() actor: Actor): Promise<Document> {
    const list = (page: Parameters<typeof listWorkloadIdentities>[3]) =>
      listWorkloadIdentities(this.database, actor, team, page);
    return renderList(request, list, (row) => this.render(row));
  }

  @Post('teams/:id/workload-identities')
  @RequireRecentSignIn()
  async create(@Param('id') team: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const { attributes } = parseBody(createBody, body, checkWorkloadIdentity).data;
    const { name, issuer, claims } = attributes;
    const settings = { ...toSettings(attributes), name, issuer, claims };
    const row = await this.bus.execute(new ChangeWorkloadIdentity('CreateWorkloadIdentity', { team, settings, actor }));
    return renderDocument(this.render(row));
  }

  @Get('workload-identities/:id')
  async show(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return renderDocument(this.render(await findWorkloadIdentity(this.database, actor, id)));
  }

  @Patch('workload-identities/:id')
  @RequireRecentSignIn()
  async update(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const changes = toSettings(parseBody(updateBody, body, checkWorkloadIdentity).data.attributes);
    const row = await this.bus.execute(new ChangeWorkloadIdentity('UpdateWorkloadIdentity', { id, changes, actor }));
    if (!row) throw notFound();
    return renderDocument(this.render(row));
  }

  @Delete('workload-identities/:id')
  @HttpCode(204)
  async destroy(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeWorkloadIdentity('DeleteWorkloadIdentity', { id, actor }));
  }

  private render(row: WorkloadIdentityRow): Resource {
    return renderWorkloadIdentity(row, this.publicUrl);
  }
}
