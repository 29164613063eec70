import { upcastEventData, type AnyEventKind, type EventRegistry } from '#platform/kernel';
import type { ImportedEvent } from '#storage/event-store';
import { StartupError } from '#platform/host';
import { forEachString } from '#storage/personal-data';
import { PeopleCollector } from '../export/people.collector.js';
import type { MovedTable } from '../export/secrets.exporter.js';
import type { ExportedRow, OrganizationManifest } from '../format/organization-export.manifest.js';
import { listTexts } from './event-fields.js';

/** Matches texts in the form of ids of resources: a prefix and letters and digits. */
const ID = /^[a-z]+-[A-Za-z0-9]+$/;
const PERSON = /^user-[A-Za-z0-9]+$/;

/** Streams whose ids begin with these words and the id of the organization. */
const ORGANIZATION_STREAMS = ['reads', 'facts'];
const WORKLOAD_TOKENS = 'workload-tokens/';

export const refuseExport = (detail: string): StartupError =>
  new StartupError(`the export is refused: ${detail}. Nothing was changed`);

const describeEvent = ({ id, type }: Pick<ImportedEvent, 'id' | 'type'>): string => `the event ${id} (${type})`;

const hasPrefix = (id: string, prefixes: readonly string[]): boolean =>
  ID.test(id) && prefixes.some((prefix) => id.startsWith(`${prefix}-`));

/**
 * Checks that an export contains one organization and nothing else: types and schemas of the events, their streams, and
 * every id that they refer to. Inspect all events in order, then call `finish`. Every method throws StartupError if the
 * export is refused.
 */
export class ExportInspector {
  private readonly people = new PeopleCollector();
  private readonly versions = new Map<string, number>();
  private readonly created = new Set<string>();
  /** Ids of which the export must have a stream, with a description of the first event that refers to them. */
  private readonly awaited = new Map<string, string>();
  /** Ids in texts that may be ids of other organizations, with a description of the first event. */
  private readonly mentioned = new Map<string, string>();
  private readonly exportedPeople: ReadonlySet<string>;
  private name: string | null = null;
  private count = 0;

  constructor(
    private readonly kinds: EventRegistry,
    private readonly manifest: OrganizationManifest,
  ) {
    const { accounts, forgotten } = manifest.people;
    this.exportedPeople = new Set([...accounts.map(({ id }) => id), ...forgotten]);
    const { id } = manifest.snapshot.organization;
    if (!hasPrefix(id, ['org'])) throw refuseExport(`the id of its organization is ${JSON.stringify(id)}`);
    for (const person of this.exportedPeople)
      if (!PERSON.test(person)) throw refuseExport(`it has a user with the id ${JSON.stringify(person)}`);
  }

  private get organization(): string {
    return this.manifest.snapshot.organization.id;
  }

  /** Checks the next event. Returns it in the present version of its schema. */
  inspect(event: ImportedEvent): ImportedEvent {
    const kind = this.requireKind(event);
    const { organization, stream } = event;
    if (organization !== this.organization) {
      throw refuseExport(`${describeEvent(event)} belongs to the organization ${JSON.stringify(organization)}`);
    }
    const upcast = this.upcast(event, kind);
    this.requireStream(upcast, kind);
    this.requireNextVersion(upcast);
    this.addReferences(upcast, kind);
    this.trackName(upcast);
    this.people.add([upcast]);
    this.collectMentions(upcast);
    this.versions.set(stream, event.version);
    this.count += 1;
    return upcast;
  }

  /** Checks the rules that need all events. */
  finish(): void {
    const { organization, events } = this.manifest.snapshot;
    const [missing] = this.listMissing();
    if (missing !== undefined) {
      throw refuseExport(`${this.awaited.get(missing) ?? ''} refers to ${missing}, which is not in the export`);
    }
    if (this.name !== organization.name) {
      throw refuseExport(
        `its list names the organization ${JSON.stringify(organization.name)}, and its events ${JSON.stringify(this.name)}`,
      );
    }
    if (this.count !== events) throw refuseExport(`it has ${this.count} events instead of ${events}`);
    const people = this.people.listIds();
    for (const person of this.exportedPeople)
      if (!people.has(person)) throw refuseExport(`no event names its user ${person}`);
  }

  /** Checks a row of a table outside the log. */
  inspectRow({ table, listOwners }: Pick<MovedTable, 'table' | 'listOwners'>, row: ExportedRow): void {
    const owners = listOwners(row);
    const isOwn = row['organization'] === this.organization;
    const isOwned = owners.length > 0 && owners.every((id) => typeof id === 'string' && this.contains(id));
    if (isOwn && isOwned) return;
    throw refuseExport(
      `the row ${JSON.stringify(owners[0] ?? row['id'])} of ${table} belongs to nothing in the export`,
    );
  }

  /** Returns whether the resource with this id belongs to the export. */
  contains(id: string): boolean {
    return this.versions.has(id) || this.created.has(id);
  }

  /** Returns the ids that events refer to and that the events so far do not contain. */
  listMissing(): readonly string[] {
    return [...this.awaited.keys()].filter((id) => !this.contains(id));
  }

  /**
   * Returns ids that the site must not know, because the export has neither a stream nor a user with them, and the first
   * event that names them.
   */
  listForeignIds(): ReadonlyMap<string, string> {
    return new Map([...this.mentioned].filter(([id]) => !this.contains(id) && !this.exportedPeople.has(id)));
  }

  private requireKind(event: ImportedEvent): AnyEventKind {
    const kind = Object.hasOwn(this.kinds, event.type) ? this.kinds[event.type] : undefined;
    if (kind?.notImported !== undefined) {
      throw refuseExport(`it contains ${describeEvent(event)}, but ${kind.notImported}`);
    }
    if (!kind || event.schemaVersion > kind.schemaVersion) throw this.refuseLaterVersion(event);
    return kind;
  }

  private upcast(event: ImportedEvent, kind: AnyEventKind): ImportedEvent {
    try {
      const data = kind.schema.parse(upcastEventData(kind, event.schemaVersion, event.data)) as ImportedEvent['data'];
      return { ...event, data, schemaVersion: kind.schemaVersion };
    } catch (cause) {
      throw new StartupError(
        `the export is refused: the data of ${describeEvent(event)} do not match the schema of such events. Nothing was changed`,
        { cause },
      );
    }
  }

  private refuseLaterVersion({ type, schemaVersion }: ImportedEvent): StartupError {
    return new StartupError(
      `Cadastre ${this.manifest.snapshot.madeBy} made this export, and this version does not support its event ${type} with ` +
        `the schema version ${schemaVersion}; import it with that version or a later one. Nothing was changed`,
    );
  }

  private requireStream(event: ImportedEvent, { stream: kind }: AnyEventKind): void {
    const { stream } = event;
    const isAllowed = (): boolean => {
      if (kind === 'org') return stream === this.organization;
      if (kind === 'atrail' || kind === 'atlog') return stream === this.organization.replace(/^org-/, `${kind}-`);
      if (ORGANIZATION_STREAMS.includes(kind)) return stream.startsWith(`${kind}/${this.organization}/`);
      if (kind === 'workload-tokens')
        return stream.startsWith(WORKLOAD_TOKENS) && hasPrefix(stream.slice(WORKLOAD_TOKENS.length), ['wid']);
      return hasPrefix(stream, [kind]);
    };
    if (!isAllowed()) throw refuseExport(`${describeEvent(event)} is in the stream ${JSON.stringify(stream)}`);
    // The streams of state versions begin after the workspace has created the version.
    if (kind === 'sv') this.awaitCreation(stream, event);
    if (kind === 'workload-tokens') this.awaitStream(stream.slice(WORKLOAD_TOKENS.length), event);
  }

  private requireNextVersion(event: ImportedEvent): void {
    const { stream, version } = event;
    const expected = (this.versions.get(stream) ?? 0) + 1;
    if (version === expected) return;
    throw refuseExport(`${describeEvent(event)} has the version ${version} of its stream instead of ${expected}`);
  }

  private addReferences(event: ImportedEvent, { ids: { refersTo = {}, creates = {} } }: AnyEventKind): void {
    for (const [path, prefix] of Object.entries(creates)) {
      for (const id of listTexts(event.data, path)) {
        if (!hasPrefix(id, [prefix])) throw this.refuseReference(event, path, id);
        this.created.add(id);
      }
    }
    for (const [path, prefixes] of Object.entries(refersTo)) {
      // An empty text refers to nothing.
      for (const id of listTexts(event.data, path)) if (id !== '') this.addReference(event, path, id, prefixes);
    }
  }

  private addReference(event: ImportedEvent, path: string, id: string, prefixes: readonly string[]): void {
    if (!hasPrefix(id, prefixes)) throw this.refuseReference(event, path, id);
    if (!PERSON.test(id)) this.awaitStream(id, event);
    else if (!this.exportedPeople.has(id)) throw this.refuseReference(event, path, id);
  }

  private refuseReference(event: ImportedEvent, path: string, id: string): StartupError {
    return refuseExport(
      `${describeEvent(event)} has ${JSON.stringify(id)} as ${path}, which is not the id of such a resource of the export`,
    );
  }

  private awaitStream(id: string, event: ImportedEvent): void {
    if (!this.contains(id) && !this.awaited.has(id)) this.awaited.set(id, describeEvent(event));
  }

  private awaitCreation(id: string, event: ImportedEvent): void {
    if (this.created.has(id)) return;
    throw refuseExport(
      `${describeEvent(event)} is in the stream ${id}, but no earlier event of the export creates ${id}`,
    );
  }

  private trackName({ stream, version, type, data }: ImportedEvent): void {
    if (stream !== this.organization) return;
    if ((version === 1) !== (type === 'OrganizationCreated')) {
      throw refuseExport(`the version ${version} of the organization is ${type}`);
    }
    const [name] = [...listTexts(data, 'name'), ...listTexts(data, 'changes.name')];
    this.name = name ?? this.name;
  }

  private collectMentions(event: ImportedEvent): void {
    const { accessor, impersonator, linkOf } = event.context;
    const mention = (text: string): void => {
      if (ID.test(text) && !this.mentioned.has(text) && !this.contains(text))
        this.mentioned.set(text, describeEvent(event));
    };
    forEachString(event.data, mention);
    // A caller that is a token or a service of the other site is allowed. A person must be one of the export.
    for (const person of [accessor.id, impersonator, linkOf]) if (person?.startsWith('user-')) mention(person);
  }
}
