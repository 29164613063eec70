import { getEventKind, sql, type Clock, type EventContext, type Ids, type Message, type Sql } from '#platform/kernel';
import { createSystemContext } from '#api/access';
import { insertRows, requireMigrations, type BackupControl, type BackupPart } from '#operations/backup';
import {
  EventImport,
  listViews,
  type EventStore,
  type ImportedEvent,
  type ModuleDefinition,
} from '#storage/event-store';
import { StartupError } from '#platform/host';
import { disableRanges, listImportedIpAllowlists } from '#organizations/ip-allowlists';
import { completeImport, reserveOrganizationName, stopImportedProjects } from '#organizations/organizations';
import {
  claimUsernames,
  destroyToken,
  listActiveTokens,
  listKnownAccounts,
  listMembersAmong,
  raiseEpochsOfMembers,
} from '#identity/people';
import { stopImportedWorkspaces } from '#workspaces/workspaces';
import { mapStrings } from '#storage/personal-data';
import { getViolatedConstraint, isVersionConflictError, type DatabaseSession } from '#platform/postgres';
import { encryptRow, listMovedTables, requireMovedTable } from '../export/secrets.exporter.js';
import { readEvents, readRows } from '../format/organization-export.manifest.js';
import { createFileAccess, type SiteFileStore } from '../format/site.files.js';
import { ExportInspector, refuseExport } from '../inspection/export.inspector.js';
import type { UserMapping } from './account-plan.js';
import { createRenaming, renameInContext, resolveAccounts, type ResolvedAccounts } from './accounts.importer.js';
import { importFiles, requireFileKeys } from './files.importer.js';
import { acquireLocks, requireFreeName, type OrganizationArchive } from './import.preconditions.js';
import { readImportPlan, type ImportPlan } from './import-plan.queries.js';

/** The migrated site that gets the organization. */
export type ImportingSite = SiteFileStore & {
  readonly store: EventStore;
  readonly definitions: readonly ModuleDefinition[];
  readonly clock: Clock;
  readonly ids: Ids;
};

/** What the operator decides about an import. */
export type ImportDecisions = {
  readonly mappings?: readonly UserMapping[];
  /** Called before anything is changed. The import ends if it rejects. */
  readonly approve: (plan: ImportPlan) => Promise<void>;
};

export type ImportedOrganization = {
  /** Events of the export. */
  readonly events: number;
  readonly createdUsers: number;
  readonly destroyedTokens: number;
};

/**
 * Imports an organization into a site with other organizations, while the site serves requests. Events and views are
 * prepared in temporary tables, then files are copied, and one transaction appends everything. If the import is refused or
 * interrupted, the log and all tables are as before; running it again keeps the files that were copied.
 */
export const importOrganization = async (
  site: ImportingSite,
  source: OrganizationArchive,
  { mappings = [], approve }: ImportDecisions,
  control: BackupControl = {},
): Promise<ImportedOrganization> => {
  const session = await site.store.database.session();
  try {
    await acquireLocks(session);
    const { snapshot, people } = source.manifest;
    await requireMigrations(session, site.definitions, snapshot, { noun: 'export', verb: 'import' });
    await requireFreeName(session, source);
    const accounts = await resolveAccounts(session, people, mappings);
    return await new OrganizationImport(site, session, source, { accounts, approve }, control).run();
  } finally {
    await session.close();
  }
};

class OrganizationImport {
  private readonly accounts: ResolvedAccounts;
  private readonly inspector: ExportInspector;
  private readonly rename: (text: string) => string;
  private readonly context: EventContext;
  private readonly time: string;
  /** The events of the organization's own stream. */
  private readonly ownEvents: ImportedEvent[] = [];

  constructor(
    private readonly site: ImportingSite,
    private readonly session: DatabaseSession,
    private readonly source: OrganizationArchive,
    private readonly decided: Pick<ImportDecisions, 'approve'> & { readonly accounts: ResolvedAccounts },
    private readonly control: BackupControl,
  ) {
    this.accounts = decided.accounts;
    this.inspector = new ExportInspector(site.store.kinds, source.manifest);
    this.rename = createRenaming(decided.accounts.renamed);
    this.context = createSystemContext('command line', site.ids.uuid());
    this.time = site.clock.now().toISOString();
  }

  async run(): Promise<ImportedOrganization> {
    const { store, definitions } = this.site;
    const { archive } = this.source;
    const { snapshot, people } = this.source.manifest;
    const views = listViews(definitions);
    const events = await EventImport.begin(store, this.session, views, new Set(people.forgotten));
    await this.addAccounts(events);
    await this.addHistory(events);
    this.inspector.finish();
    await this.refuseForeignIds();
    await this.refuseCollision(events);
    await this.refuseForgottenMembers();
    const destroyedTokens = await this.addCompletion(events);
    const rows = await this.buildRowInserts();
    await requireFileKeys(archive, snapshot.files, await this.listFileKeys());
    await this.decided.approve(await readImportPlan(this.session, snapshot, this.accounts));
    await importFiles(archive, snapshot.files, createFileAccess(this.site), this.control);
    this.control.signal?.throwIfAborted();
    await this.commit(events, rows);
    return { events: snapshot.events, createdUsers: this.accounts.created.length, destroyedTokens };
  }

  private async addAccounts(events: EventImport): Promise<void> {
    const created = this.accounts.created.flatMap(({ account: { id }, events: messages }) =>
      messages.map((message, index) => this.toNewEvent(message, id, index + 1, null)),
    );
    if (created.length > 0) await events.add(created);
  }

  private async addHistory(events: EventImport): Promise<void> {
    const { manifest } = this.source;
    let done = 0;
    for (const part of manifest.events) {
      this.control.signal?.throwIfAborted();
      const page = await this.readPart(part);
      await events.add(page);
      this.ownEvents.push(...page.filter(({ stream }) => stream === manifest.snapshot.organization.id));
      this.control.report?.('events', (done += page.length), manifest.snapshot.events);
    }
  }

  private async readPart(part: BackupPart): Promise<readonly ImportedEvent[]> {
    const events = await readEvents(this.source.archive, part);
    return events.map((event) => this.renamePeople(this.inspector.inspect(event)));
  }

  private renamePeople(event: ImportedEvent): ImportedEvent {
    if (this.accounts.renamed.size === 0) return event;
    return {
      ...event,
      stream: event.stream.split('/').map(this.rename).join('/'),
      data: mapStrings(event.data, this.rename),
      context: renameInContext(event.context, this.rename),
    };
  }

  private async refuseForgottenMembers(): Promise<void> {
    const members = await listMembersAmong(this.session, [...this.accounts.forgottenHere]);
    if (members.length === 0) return;
    throw new StartupError(
      `members of the organization were forgotten at this site: ${members.join(', ')}; remove them from the organization ` +
        'at the other site, and export it again. Nothing was changed',
    );
  }

  private async refuseCollision(events: EventImport): Promise<void> {
    const collision = await events.findCollision();
    if (!collision) return;
    throw new StartupError(
      `the log of this site already contains the ${collision.kind} ${collision.id}: this organization, or a part of it, was ` +
        'imported before. Nothing was changed',
    );
  }

  /**
   * Adds the events of this site: it destroys the tokens, which have no secret here, disables the ranges of IP allowlists,
   * which would lock people out if they have other addresses here, removes the settings of automatic destroy and health
   * assessments, because a copy must not work on the resources of the original, and records the import.
   */
  private async addCompletion(events: EventImport): Promise<number> {
    const { archive, manifest } = this.source;
    const { organization, source, last, takenAt, events: count, trailCheckpoint } = manifest.snapshot;
    const tokens = await listActiveTokens(this.session);
    const lists = await listImportedIpAllowlists(this.session);
    const stops = [...(await stopImportedProjects(this.session)), ...(await stopImportedWorkspaces(this.session))];
    const changed = [...[...tokens, ...lists].map(({ id }) => id), ...stops.map(([id]) => id)];
    const versions = await events.readVersions([organization.id, ...changed]);
    const toEvents = (messages: readonly Message[], stream: string): ImportedEvent[] =>
      messages.map((message, index) =>
        this.toNewEvent(message, stream, (versions.get(stream) ?? 0) + index + 1, organization.id),
      );
    const origin = {
      archive: archive.header.id,
      source,
      position: last.position,
      exportedAt: takenAt,
      events: count,
      trailCheckpoint,
    };
    await events.add([
      ...tokens.flatMap((token) => toEvents(destroyToken(token), token.id)),
      ...lists.flatMap((list) => toEvents(disableRanges(list), list.id)),
      ...stops.flatMap(([id, messages]) => toEvents(messages, id)),
      ...toEvents(completeImport(this.ownEvents, origin), organization.id),
    ]);
    return tokens.length;
  }

  private toNewEvent(message: Message, stream: string, version: number, organization: string | null): ImportedEvent {
    const kind = getEventKind(this.site.store.kinds, message.type);
    const { schemaVersion } = kind;
    const { context, time } = this;
    const data: unknown = kind.schema.parse(message.data);
    return {
      id: this.site.ids.uuid(),
      type: message.type,
      stream,
      version,
      schemaVersion,
      organization,
      time,
      data,
      context,
    };
  }

  private async commit(events: EventImport, rows: readonly Sql[]): Promise<void> {
    const { organization } = this.source.manifest.snapshot;
    try {
      await events.commit([
        ...rows,
        ...claimUsernames(this.accounts.created.map(({ account }) => account.id)),
        reserveOrganizationName(organization),
        raiseEpochsOfMembers(organization.id),
      ]);
    } catch (error) {
      if (getViolatedConstraint(error) === null && !isVersionConflictError(error)) throw error;
      throw new StartupError(
        'another request changed a name, a user or the encryption key at the same time. Nothing was changed; run the ' +
          'command again',
        { cause: error },
      );
    }
  }

  /** Refuses ids of this site in the texts of events: an export refers only to what it contains. */
  private async refuseForeignIds(): Promise<void> {
    const foreignIds = this.inspector.listForeignIds();
    const ids = [...foreignIds.keys()];
    const streams = await this.session.run<{ id: string }>(
      sql`select stream as id from event_store.streams where stream = any (${ids}::text[]) order by stream limit 1`,
    );
    const foreignId = streams[0]?.id ?? (await listKnownAccounts(this.session, ids))[0];
    if (foreignId === undefined) return;
    throw refuseExport(
      `${foreignIds.get(foreignId) ?? 'an event'} names ${foreignId} of this site, which is not in the export`,
    );
  }

  /** Returns the keys of the files that the events of the export explain. */
  private async listFileKeys(): Promise<ReadonlySet<string>> {
    const { id } = this.source.manifest.snapshot.organization;
    const keys = new Set<string>();
    for (const { selectOrganizationFiles } of this.site.definitions) {
      if (!selectOrganizationFiles) continue;
      for (const { key } of await this.session.run<{ key: string }>(selectOrganizationFiles(id))) keys.add(key);
    }
    return keys;
  }

  private async buildRowInserts(): Promise<readonly Sql[]> {
    const { archive, manifest } = this.source;
    const { definitions, encryptionKeys } = this.site;
    const movedTables = listMovedTables(definitions);
    const inserts: Sql[] = [];
    for (const { table, columns, parts } of manifest.snapshot.tables) {
      const target = requireMovedTable(archive, movedTables, table);
      for (const part of parts) {
        const rows = await readRows(archive, part);
        for (const row of rows) this.inspector.inspectRow(target, row);
        const encrypted = rows.map((row) => encryptRow(row, target.encrypted, encryptionKeys));
        inserts.push(insertRows(table, columns, encrypted));
      }
    }
    return inserts;
  }
}
