import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { notFound } from '#platform/kernel';
import { Database } from '#platform/postgres';
import { ConfigureRoute, CurrentActor, type Actor } from '#api/access';
import {
  getParameter,
  ID,
  ignoredMember,
  LIST_BODY_BYTES,
  omitNullish,
  omitUndefined,
  parseBody,
  parsePage,
  parseToMany,
  renderDocument,
  renderPage,
  resourceBody,
  text,
  toManyInput,
  typeSchema,
  unsupportedMember,
  type Document,
  type QueryParameters,
} from '#api/json-api';
import { policyKind } from './policies.controller.js';
import { renderPolicySet } from './policies.document.js';
import { NO_MEMBERS, POLICY_SET_RELATIONS, type PolicySetMembers, type PolicySetRelation } from './policy-set.js';
import { ChangePolicySet } from './policy-sets.handler.js';
import { findPolicySet, listPolicySets } from './policy-sets.view.js';

const NOT_VERSIONED = 'policy sets get their policies one by one';

const NO_SELECTORS = 'name the workspaces and projects of the policy set';

const attributes = {
  description: text(10_000).nullish(),
  global: z.boolean().nullish(),
  overridable: z.boolean().nullish(),
  'policy-tool-version': text(255).nullish(),
  'agent-enabled': ignoredMember('executors evaluate all policies', z.boolean().nullish()),
  'policies-path': unsupportedMember(NOT_VERSIONED),
  'policy-update-patterns': unsupportedMember(NOT_VERSIONED),
  'vcs-repo': unsupportedMember(NOT_VERSIONED),
  'tag-selectors': unsupportedMember(NO_SELECTORS),
  'tag-selector-matching-logic': unsupportedMember(NO_SELECTORS),
};

const relationships = z
  .object({
    policies: toManyInput('policies'),
    workspaces: toManyInput('workspaces'),
    projects: toManyInput('projects'),
    'workspace-exclusions': toManyInput('workspaces'),
    'project-exclusions': toManyInput('projects'),
  })
  .nullish();

export const createPolicySetBody = resourceBody(
  'policy-sets',
  z.object({ ...attributes, name: z.string(), kind: policyKind }),
  relationships,
);

export const updatePolicySetBody = resourceBody(
  'policy-sets',
  z.object({ ...attributes, name: z.string().nullish(), kind: policyKind.nullish() }).default({}),
  relationships,
);

const MAX_IDENTIFIERS = 500;

export const policySetMembersBody = z.object({
  data: z
    .array(z.object({ type: typeSchema('policies', 'workspaces', 'projects'), id: ID.min(1) }))
    .max(MAX_IDENTIFIERS, { error: `too many, at most ${MAX_IDENTIFIERS} of them` }),
});

const toChanges = (values: z.infer<typeof updatePolicySetBody>['data']['attributes']) => {
  const version = values['policy-tool-version'];
  return {
    ...omitNullish({
      name: values.name,
      description: values.description,
      global: values.global,
      overridable: values.overridable,
    }),
    ...(version === undefined ? {} : { toolVersion: version === '' || version === 'latest' ? null : version }),
  };
};

const toMembers = (input: z.infer<typeof relationships>): Partial<PolicySetMembers> =>
  omitUndefined({
    policies: parseToMany(input?.policies),
    workspaces: parseToMany(input?.workspaces),
    projects: parseToMany(input?.projects),
    'workspace-exclusions': parseToMany(input?.['workspace-exclusions']),
    'project-exclusions': parseToMany(input?.['project-exclusions']),
  });

const WORKSPACE_FILTER = 'filter[workspace][id]';

const DEFAULTS = { description: '', global: false, overridable: false, toolVersion: null };

/** Throws 404 for a relationship that policy sets do not have. */
const requireRelation = (name: string): PolicySetRelation => {
  const relation = POLICY_SET_RELATIONS.find((one) => one === name);
  if (relation === undefined) throw notFound();
  return relation;
};

@Controller('api/v2')
export class PolicySetsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
  ) {}

  @Get('organizations/:organization/policy-sets')
  @ConfigureRoute({ filters: [WORKSPACE_FILTER] })
  async list(
    @Param('organization') organization: string,
    @Query() query: QueryParameters,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const page = parsePage(query);
    const list = { organization, workspace: getParameter(query, WORKSPACE_FILTER) };
    const { rows, total } = await listPolicySets(this.database, actor, list, page);
    return renderPage(rows.map(renderPolicySet), page, total, request.publicUrl);
  }

  @Post('organizations/:organization/policy-sets')
  @ConfigureRoute({ bodyLimit: LIST_BODY_BYTES })
  async create(
    @Param('organization') organization: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const { attributes: values, relationships: related } = parseBody(createPolicySetBody, body).data;
    const settings = { ...DEFAULTS, ...toChanges(values), name: values.name };
    const members = { ...NO_MEMBERS, ...toMembers(related) };
    const input = { organization, settings, members, actor };
    return renderDocument(renderPolicySet(await this.bus.execute(new ChangePolicySet('CreatePolicySet', input))));
  }

  @Get('policy-sets/:id')
  async show(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return renderDocument(renderPolicySet(await findPolicySet(this.database, actor, id)));
  }

  @Patch('policy-sets/:id')
  @ConfigureRoute({ bodyLimit: LIST_BODY_BYTES })
  async update(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const { attributes: values, relationships: related } = parseBody(updatePolicySetBody, body).data;
    const input = { id, changes: toChanges(values), members: toMembers(related), actor };
    const row = await this.bus.execute(new ChangePolicySet('UpdatePolicySet', input));
    if (!row) throw notFound();
    return renderDocument(renderPolicySet(row));
  }

  @Delete('policy-sets/:id')
  @HttpCode(204)
  async destroy(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangePolicySet('DeletePolicySet', { id, actor }));
  }

  @Post('policy-sets/:id/relationships/:relation')
  @ConfigureRoute({ bodyLimit: LIST_BODY_BYTES })
  @HttpCode(204)
  attach(
    @Param('id') id: string,
    @Param('relation') name: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    return this.changeMembers('AttachToPolicySet', id, name, body, actor);
  }

  @Delete('policy-sets/:id/relationships/:relation')
  @ConfigureRoute({ bodyLimit: LIST_BODY_BYTES })
  @HttpCode(204)
  detach(
    @Param('id') id: string,
    @Param('relation') name: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    return this.changeMembers('DetachFromPolicySet', id, name, body, actor);
  }

  private async changeMembers(
    type: 'AttachToPolicySet' | 'DetachFromPolicySet',
    id: string,
    name: string,
    body: unknown,
    actor: Actor,
  ): Promise<void> {
    const ids = parseBody(policySetMembersBody, body).data.map((one) => one.id);
    await this.bus.execute(new ChangePolicySet(type, { id, relation: requireRelation(name), ids, actor }));
  }
}
