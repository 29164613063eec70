import { getEventKind, sql, type Clock, type EventContext, type Ids, type Message } from '#kernel';
import { createSystemContext } from '#access';
import {
  insertRows,
  preventRotation,
  requireMigrations,
  type BackupArchive,
  type BackupControl,
  type BackupPart,
} from '#backup';
import { EventImport, listViews, type EventStore, type ImportedEvent, type ModuleDefinition } from '#event-store';
import { StartupError } from '#host';
import { completeImport, findSimilarOrganization, reserveOrganizationName } from '#organizations';
import { destroyToken, listActiveTokens, listMembersAmong, raiseEpochsOfMembers } from '#people';
import { mapStrings } from '#personal-data';
import { computeLockKey, getViolatedConstraint, isVersionConflictError, type DatabaseSession } from '#postgres';
import { encryptRow, listMovedTables } from '../export/secrets.exporter.js';
import { parseEvent, type OrganizationManifest } from '../format/organization-export.manifest.js';
import { createFileAccess, type SiteFileStore } from '../format/site.files.js';
import type { UserMapping } from './account-plan.js';
import { createRenaming, renameInContext, resolveAccounts, type ResolvedAccounts } from './accounts.importer.js';
import { importFiles } from './files.importer.js';

/** The migrated site that gets the organization. */
export type ImportingSite = SiteFileStore & {
  readonly store: EventStore;
  readonly definitions: readonly ModuleDefinition[];
  readonly clock: Clock;
  readonly ids: Ids;
};

export type ImportedOrganization = {
  /** Events of the export. */
  readonly events: number;
  readonly createdUsers: number;
  readonly destroyedTokens: number;
};

const IMPORT_LOCK = computeLockKey('cadastre organization import');

type OrganizationArchive = { readonly archive: BackupArchive; readonly manifest: OrganizationManifest };

/**
 * Imports an organization into a site with other organizations, while the site serves requests. Events and views are
 * prepared in temporary tables, then files are copied, and one transaction appends everything. If the import is refused or
 * interrupted, the log and all tables are as before; running it again keeps the files that were copied.
 */
export const importOrganization = async (
  site: ImportingSite,
  source: OrganizationArchive,
  mappings: readonly UserMapping[] = [],
  control: BackupControl = {},
): Promise<ImportedOrganization> => {
  const session = await site.store.database.session();
  try {
    await acquireLocks(session);
    const { snapshot, people } = source.manifest;
    await requireMigrations(session, site.definitions, snapshot, { noun: 'export', verb: 'import' });
    await requireFreeName(session, source);
    const accounts = await resolveAccounts(session, people, mappings);
    return await new OrganizationImport(site, session, source, accounts, control).run();
  } finally {
    await session.close();
  }
};

const acquireLocks = async (session: DatabaseSession): Promise<void> => {
  const [attempt] = await session.run<{ ok: boolean }>(sql`select pg_try_advisory_lock(${IMPORT_LOCK}) as ok`);
  if (!attempt?.ok) throw new StartupError('another import into this site is running; wait until it has ended');
  await preventRotation(session);
};

const requireFreeName = async (session: DatabaseSession, { archive, manifest }: OrganizationArchive): Promise<void> => {
  const { organization } = manifest.snapshot;
  const [same] = await session.run<{ id: string }>(sql`
    select id from event_store.events
     where stream = ${organization.id} and type = 'OrganizationImported' and data ->> 'archive' = ${archive.header.id}`);
  if (same) throw new StartupError('this export was imported into this site already. Nothing was changed');
  const similar = await findSimilarOrganization(session, organization);
  if (!similar) return;
  throw new StartupError(
    similar.id === organization.id
      ? `this site already contains the organization ${similar.name} (${similar.id}). Nothing was changed`
      : `this site already has an organization named ${similar.name} (${similar.id}); rename one of the two, and if you ` +
          'rename the exported one, export it again. Nothing was changed',
  );
};

class OrganizationImport {
  private readonly rename: (text: string) => string;
  private readonly context: EventContext;
  private readonly time: string;
  /** The events of the organization's own stream. */
  private readonly ownEvents: ImportedEvent[] = [];

  constructor(
    private readonly site: ImportingSite,
    private readonly session: DatabaseSession,
    private readonly source: OrganizationArchive,
    private readonly accounts: ResolvedAccounts,
    private readonly control: BackupControl,
  ) {
    this.rename = createRenaming(accounts.renamed);
    this.context = createSystemContext('command line', site.ids.uuid());
    this.time = site.clock.now().toISOString();
  }

  async run(): Promise<ImportedOrganization> {
    const { store, definitions } = this.site;
    const { snapshot, people } = this.source.manifest;
    const views = listViews(definitions);
    const events = await EventImport.begin(store, this.session, views, new Set(people.forgotten));
    await this.addAccounts(events);
    await this.addHistory(events);
    await this.refuseCollision(events);
    await this.refuseForgottenMembers();
    const destroyedTokens = await this.addCompletion(events);
    await importFiles(this.source.archive, snapshot.files, createFileAccess(this.site), this.control);
    this.control.signal?.throwIfAborted();
    await this.commit(events);
    return { events: snapshot.events, createdUsers: this.accounts.created.length, destroyedTokens };
  }

  private async addAccounts(events: EventImport): Promise<void> {
    const created = this.accounts.created.flatMap(({ id, events: messages }) =>
      messages.map((message, index) => this.toNewEvent(message, id, index + 1, null)),
    );
    if (created.length > 0) await events.add(created);
  }

  private async addHistory(events: EventImport): Promise<void> {
    const { archive, manifest } = this.source;
    let done = 0;
    for (const part of manifest.events) {
      this.control.signal?.throwIfAborted();
      const page = await this.readPart(archive, part);
      await events.add(page);
      this.ownEvents.push(...page.filter(({ stream }) => stream === manifest.snapshot.organization.id));
      this.control.report?.('events', (done += page.length), manifest.snapshot.events);
    }
  }

  private async readPart(archive: BackupArchive, part: BackupPart): Promise<readonly ImportedEvent[]> {
    const [, ...lines] = await archive.readLines(part);
    return lines.map((line) => this.renamePeople(this.requireSupported(parseEvent(line))));
  }

  /** An event of another organization could only come from a fault of the other site. */
  private requireSupported(event: ImportedEvent): ImportedEvent {
    const { organization, madeBy } = this.source.manifest.snapshot;
    const kind = this.site.store.kinds[event.type];
    if (!kind || event.schemaVersion > kind.schemaVersion) {
      throw new StartupError(
        `Cadastre ${madeBy} made this export, and this version does not support its event ${event.type} with the ` +
          `schema version ${event.schemaVersion}; import it with that version or a later one. Nothing was changed`,
      );
    }
    if (event.organization !== organization.id)
      throw this.source.archive.describeDamage(`the event ${event.id} belongs to another organization`);
    return this.site.store.log.upcast(event);
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

  /** Adds the events of this site: it destroys the tokens, which have no secret here, and records the import. */
  private async addCompletion(events: EventImport): Promise<number> {
    const { archive, manifest } = this.source;
    const { organization, source, last, takenAt, events: count } = manifest.snapshot;
    const tokens = await listActiveTokens(this.session);
    const versions = await events.readVersions([organization.id, ...tokens.map(({ id }) => id)]);
    const toEvents = (messages: readonly Message[], stream: string): ImportedEvent[] =>
      messages.map((message, index) =>
        this.toNewEvent(message, stream, (versions.get(stream) ?? 0) + index + 1, organization.id),
      );
    const origin = { archive: archive.header.id, source, position: last.position, exportedAt: takenAt, events: count };
    await events.add([
      ...tokens.flatMap((token) => toEvents(destroyToken(token), token.id)),
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

  private async commit(events: EventImport): Promise<void> {
    const { organization } = this.source.manifest.snapshot;
    try {
      await events.commit([
        ...(await this.buildRowInserts()),
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

  private async buildRowInserts() {
    const { archive, manifest } = this.source;
    const { definitions, encryptionKeys } = this.site;
    const encrypted = new Map(listMovedTables(definitions).map((one) => [one.table, one.encrypted]));
    const inserts = [];
    for (const { table, columns, parts } of manifest.snapshot.tables) {
      const encryptedColumns = encrypted.get(table);
      if (!encryptedColumns)
        throw archive.describeDamage(`it has rows of ${table}, which is no table of organizations`);
      for (const part of parts) {
        const lines = await archive.readLines(part);
        inserts.push(
          insertRows(
            table,
            columns,
            lines.map((line) => encryptRow(line, encryptedColumns, encryptionKeys)),
          ),
        );
      }
    }
    return inserts;
  }
}
