import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { can, ConfigureRoute, CurrentActor, type Actor, type RecoveredResource } from '#api/access';
import { badRequest, notFound } from '#platform/kernel';
import { Database } from '#platform/postgres';
import {
  getParameter,
  parseBody,
  renderDocument,
  renderList,
  toOne,
  typeSchema,
  type Document,
  type QueryParameters as QueryOf,
  type Resource,
} from '#api/json-api';
import { ChangeWorkspace, getDeletionPermission } from '#workspaces/workspaces';
import {
  listRecoverableItems,
  RECOVERABLE_KINDS,
  type RecoverableItemRow,
  type RecoverableKind,
} from './recoverable-items.queries.js';

/** The body is optional. `name` replaces the name if another resource has taken it. */
export const recoverBody = z.object({
  data: z
    .object({
      type: typeSchema('recoverable-items'),
      attributes: z.object({ name: z.string().optional() }).optional(),
    })
    .optional(),
});

const FILTER = 'filter[kind]';

const parseKinds = (filter: string | undefined): readonly RecoverableKind[] => {
  if (!filter) return RECOVERABLE_KINDS;
  const kinds = RECOVERABLE_KINDS.filter((kind) => kind === filter);
  if (kinds.length > 0) return kinds;
  throw badRequest(`${FILTER} must be one of ${RECOVERABLE_KINDS.join(', ')}, got "${filter}"`, FILTER);
};

const PREFIXES: ReadonlyMap<string, RecoverableKind> = new Map([['ws', 'workspaces']]);

/** Returns the kind of a resource by its id. */
const getKind = (id: string): RecoverableKind => {
  const kind = PREFIXES.get(id.split('-', 1)[0] ?? '');
  if (kind === undefined) throw notFound();
  return kind;
};

const toItem = (kind: RecoverableKind, id: string) => toOne(kind, id, `/api/v2/${kind}/${id}`);

/** The list contains only what the caller may delete. An item whose project is gone comes back into the default project. */
const canRecover = (actor: Actor, { organization, newProjectGrants: grants }: RecoverableItemRow): boolean =>
  grants === null || can(actor, 'create-workspace', { organization, grants });

const renderItem = (row: RecoverableItemRow, actor: Actor): Resource => ({
  id: row.id,
  type: 'recoverable-items',
  attributes: {
    changes: [],
    'deleted-at': row.deletedAt,
    'deleted-by': row.deletedBy,
    kind: row.kind,
    name: row.name,
    permissions: {
      'can-purge': can(actor, getDeletionPermission(row.isForced, row.allowsForceDelete), row),
      'can-recover': canRecover(actor, row),
    },
    'recoverable-until': row.recoverableUntil,
  },
  relationships: { item: toOne(row.kind, row.id), project: toOne('projects', row.project) },
});

/** Renders what was recovered: it is no longer deleted. */
const renderRecovered = (
  kind: RecoverableKind,
  id: string,
  { name, changes, project }: RecoveredResource,
): Resource => ({
  id,
  type: 'recoverable-items',
  attributes: {
    changes,
    'deleted-at': null,
    'deleted-by': null,
    kind,
    name,
    permissions: { 'can-purge': false, 'can-recover': false },
    'recoverable-until': null,
  },
  relationships: { item: toItem(kind, id), project: toOne('projects', project) },
});

/** An extension of Cadastre: deleted resources that can come back. */
@Controller('api/v2')
export class RecoverableItemsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
  ) {}

  @Get('organizations/:organization/recoverable-items')
  @ConfigureRoute({ filters: [FILTER] })
  list(
    @Param('organization') organization: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const kinds = parseKinds(getParameter(query, FILTER));
    return renderList(
      request,
      (page) => listRecoverableItems(this.database, actor, organization, { kinds, page }),
      (row) => renderItem(row, actor),
    );
  }

  @Post('recoverable-items/:id/actions/recover')
  @HttpCode(200)
  async recover(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const name = parseBody(recoverBody, body).data?.attributes?.name;
    const kind = getKind(id);
    const recovered = await this.bus.execute(new ChangeWorkspace('RecoverWorkspace', { id, name, actor }));
    return renderDocument(renderRecovered(kind, id, recovered));
  }

  @Delete('recoverable-items/:id')
  @HttpCode(204)
  async purge(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    getKind(id);
    await this.bus.execute(new ChangeWorkspace('PurgeWorkspace', { id, actor }));
  }
}
