import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { Database } from '#postgres';
import { notFound } from '#kernel';
import {
  toAttributes,
  strictObject,
  renderDocument,
  storedOnly,
  renderPage,
  parsePage,
  parseBody,
  requireParameter,
  requiredToOne,
  resourceBody,
  omitNullish,
  slicePage,
  toOne,
  fromAttributes,
  type Document,
  type QueryParameters as QueryOf,
  type Resource,
} from '#json-api';
import {
  CurrentActor,
  PROJECT_FIELDS,
  PROJECT_LEVELS,
  WORKSPACE_FIELDS,
  type Actor,
  type CustomProjectAccess,
} from '#access';
import { ChangeTeamProject } from './team-projects.commands.js';
import { checkFields, expandAccess, type NamedFields } from './team-access.js';
import { listTeamAccesses, findTeamAccess, type TeamProjectRow } from './team-access.queries.js';
import { PROJECT_ACCESS_SCALE } from './team-project.js';

const fields = {
  'project-access': strictObject({
    settings: z.enum(PROJECT_FIELDS.settings).nullish(),
    teams: z.enum(PROJECT_FIELDS.teams).nullish(),
    'variable-sets': z.enum(PROJECT_FIELDS.variableSets).nullish(),
  }).nullish(),
  'workspace-access': strictObject({
    runs: z.enum(WORKSPACE_FIELDS.runs).nullish(),
    variables: z.enum(WORKSPACE_FIELDS.variables).nullish(),
    'state-versions': z.enum(WORKSPACE_FIELDS.stateVersions).nullish(),
    'sentinel-mocks': storedOnly(z.enum(WORKSPACE_FIELDS.sentinelMocks).nullish()),
    'run-tasks': storedOnly(z.boolean().nullish()),
    create: z.boolean().nullish(),
    locking: z.boolean().nullish(),
    delete: z.boolean().nullish(),
    move: z.boolean().nullish(),
    'policy-overrides': storedOnly(z.boolean().nullish()),
  }).nullish(),
};
const access = z.enum(PROJECT_LEVELS);
/** pytfe sends the second type. */
const TYPES = ['team-projects', 'team-project-access'];
export const createBody = resourceBody(
  TYPES,
  z.object({ access, ...fields }),
  z.object({ team: requiredToOne, project: requiredToOne }),
);
const changedAttributes = z.object({ access: access.nullish(), ...fields });
export const updateBody = resourceBody(TYPES, changedAttributes.default({}));

type TeamProjectAttributes = z.infer<typeof updateBody>['data']['attributes'];

/** Returns the fields of a request. Ignores null, because single fields cannot be cleared. */
const toAccessFields = (attributes: TeamProjectAttributes): NamedFields<CustomProjectAccess> => ({
  ...fromAttributes(omitNullish(attributes['workspace-access'] ?? {})),
  project: fromAttributes(omitNullish(attributes['project-access'] ?? {})),
});

/** Parses the attributes again, because a request may also contain attributes that this resource does not have. */
const checkAttributes = (sound: object): void => {
  const attributes = changedAttributes.parse(sound);
  checkFields(attributes.access, toAccessFields(attributes), PROJECT_ACCESS_SCALE);
};

const renderTeamProject = (row: TeamProjectRow): Resource => {
  const { project, ...inEach } = expandAccess(row, PROJECT_ACCESS_SCALE);
  return {
    id: row.id,
    type: 'team-projects',
    attributes: {
      access: row.access,
      'project-access': toAttributes(project),
      'workspace-access': toAttributes(inEach),
    },
    relationships: {
      team: toOne('teams', row.team, `/api/v2/teams/${row.team}`),
      project: toOne('projects', row.target, `/api/v2/projects/${row.target}`),
    },
    links: { self: `/api/v2/team-projects/${row.id}` },
  };
};

@Controller('api/v2/team-projects')
export class TeamProjectsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
  ) {}

  @Get()
  async list(@Query() query: QueryOf, @Req() request: FastifyRequest, @CurrentActor() actor: Actor): Promise<Document> {
    const page = parsePage(query);
    const project = requireParameter(query, 'filter[project][id]');
    const rows = await listTeamAccesses(this.database, actor, 'project', project);
    return renderPage(slicePage(rows, page).map(renderTeamProject), page, rows.length, request.url);
  }

  @Post()
  async create(@Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const { attributes, relationships } = parseBody(createBody, body, checkAttributes).data;
    const terms = { access: attributes.access, fields: toAccessFields(attributes) };
    const input = { team: relationships.team.data.id, project: relationships.project.data.id, terms, actor };
    return renderDocument(renderTeamProject(await this.bus.execute(new ChangeTeamProject('AddTeamProject', input))));
  }

  @Get(':id')
  async show(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return renderDocument(renderTeamProject(await findTeamAccess(this.database, actor, 'project', 'read', id)));
  }

  @Patch(':id')
  async update(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const { attributes } = parseBody(updateBody, body, checkAttributes).data;
    const data = { ...omitNullish({ access: attributes.access }), fields: toAccessFields(attributes) };
    const row = await this.bus.execute(new ChangeTeamProject('UpdateTeamProject', { id, data, actor }));
    if (!row) throw notFound();
    return renderDocument(renderTeamProject(row));
  }

  @Delete(':id')
  @HttpCode(204)
  async destroy(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeTeamProject('RemoveTeamProject', { id, actor }));
  }
}
