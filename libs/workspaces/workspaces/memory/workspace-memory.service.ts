import { Inject, Injectable, Optional, type OnModuleInit } from '@nestjs/common';
import type { LogChange } from '#storage/event-store';
import type { Sql } from '#platform/kernel';
import { Database } from '#platform/postgres';
import { can, type DocumentKind, type Identity } from '#api/access';
import {
  DocumentMemory,
  type ResourcesInMemory,
  type PlannedRead,
  type MemoryRequest,
  type ResourceKeys,
  type LoadedRow,
} from '#api/document-cache';
import { parsePage, parseSort, renderPage, type PageRequest, type QueryParameters } from '#api/json-api';
import { WORKSPACE_LIST_DOCUMENT } from '../lists/workspace-lists.queries.js';
import {
  selectSharedWorkspaces,
  WORKSPACE_DOCUMENT,
  type SharedWorkspaceRow,
} from '../workspaces/workspaces.queries.js';
import { NamesInMemory, type OrganizationNames } from './names-in-memory.service.js';
import { WorkspacesInMemory, type WorkspaceInMemory } from './workspaces-in-memory.service.js';
import type { NamePage } from './sorted-names.js';
import { findOrganizationByName, readWorkspaceNames } from './workspace-names.queries.js';
import { renderCompact } from './workspace-shape.document.js';

const SHARE_OF_NAMES = 0.2;

const ID = /^ws-\w{1,60}$/;
const NAME = /^[\w-]{1,100}$/;

const NOTHING: ResourceKeys = { ids: [], names: [] };

type RouteParameters = Readonly<Record<string, string | undefined>>;

/** The parameters of lists that names in memory can answer. Postgres answers lists with any other. */
const LIST_PARAMETERS: ReadonlySet<string> = new Set(['page[number]', 'page[size]', 'search[name]', 'sort']);

type NameListRequest = { readonly page: PageRequest; readonly fragment: string | null; readonly descending: boolean };

/** Returns null for a list that Postgres or a refusal must answer. */
const parseListRequest = (query: QueryParameters): NameListRequest | null => {
  if (Object.entries(query).some(([name, value]) => !LIST_PARAMETERS.has(name) || typeof value !== 'string'))
    return null;
  const fragment = query['search[name]'] as string | undefined;
  try {
    const { descending } = parseSort(query, ['name']);
    return fragment !== undefined && !NAME.test(fragment)
      ? null
      : { page: parsePage(query), fragment: fragment ?? null, descending };
  } catch {
    return null;
  }
};

/** Returns whether a role lets the caller read all workspaces, so that a list needs no check of each. */
const canReadAll = (identity: Identity, organization: string): boolean =>
  !identity.closedTo.has(organization) &&
  can(identity, 'read-organization', { organization }) &&
  can(identity, 'read-workspace', { organization });

type Missing = { readonly ids: readonly string[] };

/** Workspaces and their names in memory, and the responses that are made of them (ADR 109). */
class WorkspaceMemory implements ResourcesInMemory {
  private readonly workspaces: WorkspacesInMemory;
  private readonly names: NamesInMemory;

  constructor({ resourceBytes, dependencies, clock, editResource }: DocumentMemory, database: Database) {
    const nameBytes = Math.floor(resourceBytes * SHARE_OF_NAMES);
    this.workspaces = new WorkspacesInMemory({
      maxBytes: resourceBytes - nameBytes,
      dependencies,
      clock,
      editResource,
    });
    this.names = new NamesInMemory({
      maxBytes: nameBytes,
      dependencies,
      clock,
      findOrganization: (name) => findOrganizationByName(database, name),
      read: (name) => readWorkspaceNames(database, name),
    });
  }

  plan(kind: DocumentKind, identity: Identity, request: MemoryRequest): PlannedRead | null {
    const parameters = request.params as RouteParameters;
    const query = request.query as QueryParameters;
    if (kind === WORKSPACE_LIST_DOCUMENT)
      return this.planList(identity, request, parameters['organization'] ?? '', query);
    if (kind !== WORKSPACE_DOCUMENT || Object.keys(query).length > 0) return null;
    const { id, organization, name } = parameters;
    if (id !== undefined) return ID.test(id) ? this.planById(identity, id) : null;
    return organization && name && NAME.test(organization) && NAME.test(name)
      ? this.planByName(identity, organization, name)
      : null;
  }

  select(keys: ResourceKeys): Sql {
    return selectSharedWorkspaces(keys);
  }

  onRead({ ids }: ResourceKeys, rows: readonly LoadedRow[]): void {
    const byId = new Map((rows as readonly SharedWorkspaceRow[]).map((row) => [row.id, row]));
    for (const row of byId.values()) this.workspaces.keep(row);
    this.names.onRead(ids, byId);
  }

  onChanges(changes: readonly LogChange[]): void {
    this.workspaces.onChanges(changes);
    this.names.onChanges(changes);
  }

  onUnknownChanges(): void {
    this.workspaces.clear();
    this.names.clear();
  }

  private planById(identity: Identity, id: string): PlannedRead {
    return {
      scope: null,
      listMissing: () => (this.workspaces.has(id) ? NOTHING : { ids: [id], names: [] }),
      render: () => renderOne(this.workspaces.find(id), identity),
    };
  }

  private planByName(identity: Identity, organization: string, name: string): PlannedRead {
    return {
      scope: null,
      listMissing: () =>
        this.workspaces.findByName(organization, name) ? NOTHING : { ids: [], names: [{ organization, name }] },
      render: () => renderOne(this.workspaces.findByName(organization, name), identity),
    };
  }

  private planList(
    identity: Identity,
    { publicUrl }: MemoryRequest,
    organizationName: string,
    query: QueryParameters,
  ): PlannedRead | null {
    const list = parseListRequest(query);
    const names = list && this.names.find(organizationName, (organization) => canReadAll(identity, organization));
    if (!names || !canReadAll(identity, names.organization)) return null;
    const missing = ({ ids }: Missing): readonly string[] => ids.filter((id) => !this.workspaces.has(id));
    return {
      scope: { organization: names.organization, workspace: null },
      listMissing: () => ({ ids: [...new Set([...names.changed, ...missing(selectPage(names, list))])], names: [] }),
      render: () => {
        if (!names.isCurrent || names.changed.size > 0) return null;
        const { ids, total } = selectPage(names, list);
        const resources = ids.map((id) => renderText(this.workspaces.find(id), identity));
        if (resources.includes(null)) return null;
        // What follows the resources is the same as on an empty page.
        const others = JSON.stringify(renderPage([], list.page, total, publicUrl)).slice(EMPTY_DATA.length);
        return Buffer.from(`{"data":[${resources.join(',')}]${others}`);
      },
    };
  }
}

const EMPTY_DATA = '{"data":[]';

const selectPage = (
  { names }: OrganizationNames,
  { page: { number, size }, fragment, descending }: NameListRequest,
): NamePage => names.select({ fragment, descending, offset: (number - 1) * size, limit: size });

const renderText = (workspace: WorkspaceInMemory | null, identity: Identity): string | null =>
  workspace && renderCompact(workspace, identity);

const renderOne = (workspace: WorkspaceInMemory | null, identity: Identity): Buffer | null => {
  const text = renderText(workspace, identity);
  return text === null ? null : Buffer.from(`{"data":${text}}`);
};

/** Provides workspaces to the memory of the gateway, if it has one. */
@Injectable()
export class WorkspaceMemoryProvider implements OnModuleInit {
  constructor(
    @Optional() @Inject(DocumentMemory) private readonly memory: DocumentMemory | undefined,
    private readonly database: Database,
  ) {}

  onModuleInit(): void {
    this.memory?.provideResources(new WorkspaceMemory(this.memory, this.database));
  }
}
