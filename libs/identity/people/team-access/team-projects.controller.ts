import { z } from 'zod';
import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { Database } from '#platform/postgres';
import { notFound } from '#platform/kernel';
import {
  PROJECT_FIELDS,
  PROJECT_LEVELS,
  type CustomProjectAccess,
  ConfigureRoute,
  CurrentActor,
  type Actor,
} from '#api/access';
import {
  fromAttributes,
  omitNullish,
  requiredToOne,
  resourceBody,
  strictObject,
  renderDocument,
  renderPage,
  parsePage,
  parseBody,
  requireParameter,
  slicePage,
  type Document,
  type QueryParameters as QueryOf,
} from '#api/json-api';
import { flag, sharedFields, storedFlag } from './team-access.body.js';
import { checkFields, type NamedFields } from './team-access.js';
import { PROJECT_ACCESS_SCALE } from './team-project.js';
import { ChangeTeamProject } from './team-projects.handler.js';
import { listTeamAccesses, findTeamAccess } from './team-access.view.js';
import { renderTeamProject } from './team-access.document.js';

const fields = {
  'project-access': strictObject({
    settings: z.enum(PROJECT_FIELDS.settings).nullish(),
    teams: z.enum(PROJECT_FIELDS.teams).nullish(),
    'variable-sets': z.enum(PROJECT_FIELDS.variableSets).nullish(),
  }).nullish(),
  'workspace-access': strictObject({
    ...sharedFields,
    'run-tasks': flag,
    create: flag,
    locking: flag,
    delete: flag,
    move: flag,
    'policy-overrides': storedFlag,
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
export const toAccessFields = (attributes: TeamProjectAttributes): NamedFields<CustomProjectAccess> => ({
  ...fromAttributes(omitNullish(attributes['workspace-access'] ?? {})),
  project: fromAttributes(omitNullish(attributes['project-access'] ?? {})),
});

/** Parses the attributes again, because a request may also contain attributes that this resource does not have. */
export const checkAttributes = (parsedAttributes: object): void => {
  const attributes = changedAttributes.parse(parsedAttributes);
  checkFields(attributes.access, toAccessFields(attributes), PROJECT_ACCESS_SCALE);
};

@Controller('api/v2/team-projects')
export class TeamProjectsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
  ) {}

  @Get()
  @ConfigureRoute({ filters: ['filter[project][id]'] })
  async list(@Query() query: QueryOf, @Req() request: FastifyRequest, @CurrentActor() actor: Actor): Promise<Document> {
    const page = parsePage(query);
    const project = requireParameter(query, 'filter[project][id]');
    const rows = await listTeamAccesses(this.database, actor, 'project', project);
    return renderPage(slicePage(rows, page).map(renderTeamProject), page, rows.length, request.publicUrl);
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
