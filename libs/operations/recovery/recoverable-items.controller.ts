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
import { ChangeRegistryProvider } from '#registry/registry';
import { ChangeProject } from '#organizations/organizations';
import { ChangeVariableSet } from '#workspaces/variables';
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

type ItemInput = { readonly id: string; readonly actor: Actor };

/** The commands of one kind. */
type KindCommands = {
  readonly kind: RecoverableKind;
  readonly recover: (bus: CommandBus, input: ItemInput & { name: string | undefined }) => Promise<RecoveredResource>;
  readonly purge: (bus: CommandBus, input: ItemInput) => Promise<void>;
};

/** By the prefix of their ids. */
const COMMANDS: ReadonlyMap<string, KindCommands> = new Map<string, KindCommands>([
  [
    'ws',
    {
      kind: 'workspaces',
      recover: (bus, input) => bus.execute(new ChangeWorkspace('RecoverWorkspace', input)),
      purge: (bus, input) => bus.execute(new ChangeWorkspace('PurgeWorkspace', input)),
    },
  ],
  [
    'prj',
    {
      kind: 'projects',
      recover: (bus, input) => bus.execute(new ChangeProject('RecoverProject', input)),
      purge: (bus, input) => bus.execute(new ChangeProject('PurgeProject', input)),
    },
  ],
  [
    'prov',
    {
      kind: 'registry-providers',
      recover: (bus, input) => bus.execute(new ChangeRegistryProvider('RecoverRegistryProvider', input)),
      purge: (bus, input) => bus.execute(new ChangeRegistryProvider('PurgeRegistryProvider', input)),
    },
  ],
  [
    'varset',
    {
      kind: 'varsets',
      recover: (bus, input) => bus.execute(new ChangeVariableSet('RecoverVariableSet', input)),
      purge: (bus, input) => bus.execute(new ChangeVariableSet('PurgeVariableSet', input)),
    },
  ],
]);

const getCommands = (id: string): KindCommands => {
  const commands = COMMANDS.get(id.split('-', 1)[0] ?? '');
  if (commands === undefined) throw notFound();
  return commands;
};

const toItem = (kind: RecoverableKind, id: string) => toOne(kind, id, `/api/v2/${kind}/${id}`);

/**
 * The list contains only what the caller may delete. A workspace whose project is gone comes back into the default project,
 * a variable set only into its own.
 */
const canRecover = (
  actor: Actor,
  { kind, isOrphan, organization, newProjectGrants: grants }: RecoverableItemRow,
): boolean => !isOrphan || (kind === 'workspaces' && can(actor, 'create-workspace', { organization, grants }));

const canPurge = (actor: Actor, row: RecoverableItemRow): boolean =>
  row.kind !== 'workspaces' || can(actor, getDeletionPermission(row.isForced, row.allowsForceDelete), row);

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
      'can-purge': canPurge(actor, row),
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
    const { kind, recover } = getCommands(id);
    const recovered = await recover(this.bus, { id, name, actor });
    return renderDocument(renderRecovered(kind, id, recovered));
  }

  @Delete('recoverable-items/:id')
  @HttpCode(204)
  async purge(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await getCommands(id).purge(this.bus, { id, actor });
  }
}
