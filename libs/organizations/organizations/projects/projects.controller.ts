import { z } from 'zod';
import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { unprocessable, type Tag, notFound, sql } from '#platform/kernel';
import { Database } from '#platform/postgres';
import {
  getListParameter,
  parseSort,
  getParameter,
  type QueryParameters,
  strictObject,
  omitUndefined,
  ignoredMember,
  unsupportedMember,
  resourceBody,
  text,
  toOneInput,
  parseToOne,
  renderDocument,
  parseInclude,
  renderPage,
  parsePage,
  parseBody,
  readRelated,
  getSlowReadCaller,
  type Document,
  type QueryParameters as QueryOf,
  type Resource,
} from '#api/json-api';
import {
  parseTagFilter,
  TAG_FILTERS,
  toBindings,
  tagBindingsInput,
  selectRelatedProjectTagBindings,
} from '#organizations/tag-bindings';
import { ConfigureRoute, CurrentActor, type Actor } from '#api/access';
import { type ProjectFilter, listProjects, findProject, type ProjectRow } from './projects.queries.js';
import type { ProjectInput } from './project.js';
import { PROJECT_SETTINGS } from './project-settings.js';
import { ChangeProject } from './projects.handler.js';
import { renderProject, type ProjectIncludes } from './projects.document.js';

export const PROJECT_SORTS = ['name'] as const;

/** The filters of the list of projects. */
const PROJECT_FILTERS = [
  'filter[names]',
  'filter[permissions][create-workspace]',
  'filter[permissions][update]',
  ...TAG_FILTERS,
];

/** Returns whether the parameter is present and not `false`. */
const isRequested = (query: QueryParameters, name: string): boolean => {
  const value = getParameter(query, name);
  return value !== undefined && value !== 'false';
};

const parseProjectFilter = (query: QueryParameters): ProjectFilter => ({
  names: getListParameter(query, 'filter[names]'),
  search: getParameter(query, 'q'),
  createsWorkspaces: isRequested(query, 'filter[permissions][create-workspace]'),
  updates: isRequested(query, 'filter[permissions][update]'),
  tagged: parseTagFilter(query),
  descending: parseSort(query, PROJECT_SORTS).descending,
});

const NO_STACKS = 'stacks are not built';

/** Clients know each flag by two names, with and without `default-`. */
const overwrites = strictObject({
  'default-execution-mode': z.boolean().nullish(),
  'execution-mode': z.boolean().nullish(),
  'default-agent-pool': z.boolean().nullish(),
  'agent-pool': z.boolean().nullish(),
  'stacks-default-execution-mode': ignoredMember(NO_STACKS),
  'stacks-default-agent-pool': ignoredMember(NO_STACKS),
});

const settings = {
  description: text(10_000).nullish(),
  ...PROJECT_SETTINGS.body,
  'setting-overwrites': overwrites.nullish(),
};
const relationships = z
  .object({
    'default-agent-pool': toOneInput,
    'stacks-default-agent-pool': unsupportedMember(NO_STACKS),
    'tag-bindings': tagBindingsInput,
  })
  .optional();

export const createBody = resourceBody('projects', z.object({ name: z.string(), ...settings }), relationships);
export const updateBody = resourceBody(
  'projects',
  z.object({ name: z.string().optional(), ...settings }).default({}),
  relationships,
);

type ProjectUpdateData = z.infer<typeof updateBody>['data'];

/** Returns whether the project follows the organization. The flags of mode and pool must not contradict each other. */
const toFollows = (input: z.infer<typeof overwrites> | null | undefined): boolean | undefined => {
  const mode = input?.['default-execution-mode'] ?? input?.['execution-mode'];
  const pool = input?.['default-agent-pool'] ?? input?.['agent-pool'];
  if (typeof mode === 'boolean' && typeof pool === 'boolean' && mode !== pool) {
    // Text of the vendor.
    throw unprocessable(
      'If agent-pool and execution-mode are both included in setting-overwrites, their values must be the same.',
      'setting-overwrites',
    );
  }
  return typeof mode === 'boolean' ? !mode : undefined;
};

/** Returns the bindings that replace all present ones; absent if the request does not change them. */
const toProjectBindings = ({ relationships: related }: ProjectUpdateData): { readonly bindings?: readonly Tag[] } => {
  const bindings = toBindings(related?.['tag-bindings']);
  return bindings ? { bindings } : {};
};

const toProjectInput = ({ attributes, relationships: related }: ProjectUpdateData): ProjectInput => {
  const { name, description, 'default-agent-pool-id': id, 'setting-overwrites': flags } = attributes;
  const pool = parseToOne(related?.['default-agent-pool'], id);
  return {
    ...omitUndefined({ name, description }),
    ...PROJECT_SETTINGS.read(attributes),
    ...omitUndefined({ defaultAgentPoolId: pool, follows: toFollows(flags) }),
  };
};

export const PROJECT_INCLUDES = ['effective_tag_bindings'] as const;

@Controller('api/v2')
export class ProjectsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
  ) {}

  @Get('organizations/:organization/projects')
  @ConfigureRoute({ filters: PROJECT_FILTERS })
  async list(
    @Param('organization') name: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const includes = parseInclude(query, PROJECT_INCLUDES);
    const page = parsePage(query);
    const { rows, total } = await listProjects(this.database, actor, name, page, parseProjectFilter(query));
    const data = rows.map((row) => renderProject(row, actor, includes));
    return renderPage(data, page, total, request.publicUrl, await this.loadIncluded(rows, includes, actor));
  }

  @Post('organizations/:organization/projects')
  async create(
    @Param('organization') organization: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const input = parseBody(createBody, body).data;
    const data = { ...toProjectInput(input), ...toProjectBindings(input), name: input.attributes.name };
    const row = await this.bus.execute(new ChangeProject('CreateProject', { organization, data, actor }));
    return renderDocument(renderProject(row, actor));
  }

  @Get('projects/:id')
  async show(@Param('id') id: string, @Query() query: QueryOf, @CurrentActor() actor: Actor): Promise<Document> {
    const includes = parseInclude(query, PROJECT_INCLUDES);
    const row = await findProject(this.database, actor, 'read-project', id);
    return renderDocument(renderProject(row, actor, includes), await this.loadIncluded([row], includes, actor));
  }

  @Patch('projects/:id')
  async update(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const input = parseBody(updateBody, body).data;
    const data = { changes: toProjectInput(input), ...toProjectBindings(input) };
    const row = await this.bus.execute(new ChangeProject('UpdateProject', { id, data, actor }));
    if (!row) throw notFound();
    return renderDocument(renderProject(row, actor));
  }

  @Delete('projects/:id')
  @HttpCode(204)
  async destroy(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeProject('DeleteProject', { id, actor }));
  }

  /** Returns the included resources, with one more statement if there are any. */
  private async loadIncluded(
    rows: readonly ProjectRow[],
    includes: ProjectIncludes,
    actor: Actor,
  ): Promise<Resource[] | undefined> {
    if (!includes) return undefined;
    const ids = includes.has('effective_tag_bindings') ? rows.map(({ id }) => id) : [];
    const related = ids.length > 0 ? [selectRelatedProjectTagBindings(sql`${ids}::text[]`, actor)] : [];
    return readRelated(this.database, related, getSlowReadCaller(actor, rows));
  }
}
