import type { Clock, Projection, RecordedEvent, Sql } from '#platform/kernel';
import type { Follower } from '#storage/event-store';
import { toTopicName, type CloudEventSource, type MessageSender, type TopicSettings } from '#storage/message-log';
import { castRows, type QueryRunner } from '#platform/postgres';
import { groupAffected, mergeCauses, type AffectedKeys, type ReadCause } from './affected-keys.js';
import { listChangingTypes, listReadViews } from './changing-events.js';
import { DocumentPublication } from './document.publication.js';
import type { PublishedResource } from './published-resource.js';
import { readReferences } from './referenced-events.js';
import { listStateTopics } from './state-topic-names.js';
import {
  forgetDigests,
  selectGeneration,
  selectSettledHead,
  selectStoredKeys,
  selectStoredOrganizations,
  storeGeneration,
  type GenerationRow,
  type DocumentKeyRow,
  type LogHeadRow,
} from './state-topics.queries.js';

export const STATE_TOPICS = 'state_topics';

export type StateTopicsOptions = {
  readonly resources: readonly PublishedResource[];
  /** Selects the ids of all organizations as `key`. */
  readonly organizations: Sql;
  /** All inline views. They say which events change which tables. */
  readonly projections: readonly Projection[];
  readonly sender: Pick<MessageSender, 'send' | 'ensureTopics' | 'listUnwrittenTopics'>;
  readonly origin: Pick<CloudEventSource, 'source' | 'prefix'>;
  readonly settings: TopicSettings;
  readonly clock: Clock;
};

type PublishedKind = {
  readonly resource: PublishedResource;
  readonly types: ReadonlySet<string>;
  readonly publication: DocumentPublication;
};

/**
 * Returns the follower that publishes the latest document of each resource to compacted topics.
 *
 * Inline views change in the transaction of their event, so a document that is read after an event contains it. Before the
 * first event, and after everything that changes documents without an event, the follower compares all documents.
 */
export const createStateTopicsFollower = (options: StateTopicsOptions): Follower => {
  const topics = new StateTopics(options);
  return {
    name: STATE_TOPICS,
    batch: 500,
    tables: [],
    only: topics.types,
    // Documents come from the views. Of the events only ids are used.
    keepEncrypted: true,
    follow: async (events, session): Promise<readonly Sql[]> => {
      await topics.follow(events, (statement) => session.run(statement));
      return [];
    },
  };
};

class StateTopics {
  private readonly kinds: readonly PublishedKind[];
  private readonly views: readonly string[];
  private isPrepared = false;

  constructor(private readonly options: StateTopicsOptions) {
    const { resources, projections, sender, origin, clock } = options;
    this.kinds = resources.map((resource) => ({
      resource,
      types: listChangingTypes(resource, projections),
      publication: new DocumentPublication(resource, sender, origin, clock),
    }));
    this.views = listReadViews(resources, projections);
  }

  get types(): readonly string[] {
    return [...new Set(this.kinds.flatMap(({ types }) => [...types]))].toSorted();
  }

  async follow(events: readonly RecordedEvent[], run: QueryRunner): Promise<void> {
    try {
      if (!this.isPrepared) await this.prepare(run);
      this.isPrepared = true;
      await this.compareAllIfNeeded(run);
      const referenced = await readReferences(events, run);
      for (const { resource, types, publication } of this.kinds) {
        const concerning = referenced.filter(({ type }) => types.has(type));
        if (concerning.length === 0) continue;
        await publication.publish(await this.expand(resource, groupAffected(resource, concerning), run), run);
      }
    } catch (error) {
      // A topic may have been deleted.
      this.isPrepared = false;
      throw error;
    }
  }

  /** Creates missing topics. A topic without any message gets all documents. */
  private async prepare(run: QueryRunner): Promise<void> {
    const { resources, origin, sender, settings } = this.options;
    const names = listStateTopics(resources, origin.prefix);
    await sender.ensureTopics(
      names.map((name) => ({ name, use: 'state' })),
      settings,
    );
    const unwritten = new Set(await sender.listUnwrittenTopics(names));
    const types = resources
      .filter((resource) => unwritten.has(toTopicName(resource, origin.prefix)))
      .map(({ type }) => type);
    if (types.length > 0) await run(forgetDigests(types));
  }

  private async compareAllIfNeeded(run: QueryRunner): Promise<void> {
    const [generation] = castRows<GenerationRow>(await run(selectGeneration(this.views)));
    const versions = this.kinds.map(({ resource: { type, schemaVersion } }) => `${type}=${schemaVersion}`);
    const fingerprint = [...versions, `views=${generation?.exchanges ?? ''}`].join(' ');
    if (generation?.stored === fingerprint) return;
    await this.compareAll(run);
    await run(storeGeneration(fingerprint));
  }

  private async compareAll(run: QueryRunner): Promise<void> {
    const [head] = castRows<LogHeadRow>(await run(selectSettledHead()));
    for (const organization of await this.listOrganizations(run)) {
      const cause = { organization, transaction: null, position: head?.position ?? 0 };
      for (const { resource, publication } of this.kinds)
        await publication.publish(await this.listOrganization(resource, cause, run), run);
    }
  }

  /** Returns the organizations that exist, and those that have documents in the topics. */
  private async listOrganizations(run: QueryRunner): Promise<ReadonlySet<string>> {
    const living = castRows<DocumentKeyRow>(await run(this.options.organizations));
    const stored = castRows<DocumentKeyRow>(await run(selectStoredOrganizations()));
    return new Set([...living, ...stored].map(({ key }) => key));
  }

  private async expand(
    resource: PublishedResource,
    { keys, projects, organizations }: AffectedKeys,
    run: QueryRunner,
  ): Promise<ReadonlyMap<string, ReadCause>> {
    const causes = new Map(keys);
    const merge = (key: string, cause: ReadCause): void => void causes.set(key, mergeCauses(causes.get(key), cause));
    for (const [project, cause] of projects)
      for (const { key } of castRows<DocumentKeyRow>(await run(resource.selectKeys({ project })))) merge(key, cause);
    for (const cause of organizations.values())
      for (const key of (await this.listOrganization(resource, cause, run)).keys()) merge(key, cause);
    return causes;
  }

  /** Returns all documents of an organization, and all that its topic contains. */
  private async listOrganization(
    resource: PublishedResource,
    cause: ReadCause,
    run: QueryRunner,
  ): Promise<ReadonlyMap<string, ReadCause>> {
    const { organization } = cause;
    const living = castRows<DocumentKeyRow>(await run(resource.selectKeys({ organization })));
    const stored = castRows<DocumentKeyRow>(await run(selectStoredKeys(resource.type, organization)));
    return new Map([...living, ...stored].map(({ key }) => [key, cause]));
  }
}
