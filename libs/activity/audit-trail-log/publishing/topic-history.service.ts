import type { Logger } from '#platform/kernel';
import {
  computeRoot,
  createVerifierKey,
  openCheckpoint,
  parseCheckpoint,
  parseVerifierKey,
  splitNote,
} from '#packages/trail-verifier';
import type { Database } from '#platform/postgres';
import { TopicTail, toTopicName, type KafkaConnection, type TailMessage } from '#storage/message-log';
import type { BlobStore } from '#storage/blob-store';
import { checkpointMetrics } from '../checkpoints/checkpoints.metrics.js';
import type { HistoryGuard } from '../checkpoints/history-guards.service.js';
import { PublishedCheckpoints } from '../checkpoints/published-checkpoints.files.js';
import {
  createSigningKeys,
  type SigningKeyDependencies,
  type SigningKeySettings,
} from '../keys/configured-keys.service.js';
import type { LogSigningKey } from '../keys/signing-keys.port.js';
import { buildFirstOrigin, getOriginNumber, isSameLog } from '../logs/origin.js';
import { computeWithTiles } from '../tiles/tiles.reader.js';
import { CHECKPOINTS_TOPIC } from './checkpoints.published.js';
import {
  findLastSignedAt,
  markUnsigned,
  readKnownHistory,
  selectUnknown,
  type KnownHistory,
  type NamedCheckpoint,
} from './topic-history.queries.js';

/** How far the clocks of projectors and brokers may differ. */
const CLOCK_SKEW_MS = 60 * 60_000;
/** Read from each partition also if they are older, because a clock may have gone back further. */
const LAST_MESSAGES = 1_000;
/** One attempt. The next one continues where it ended. */
const READ_MS = 30_000;
/** A checkpoint has about 600 bytes. */
const MAX_VALUE_BYTES = 32_768;
const LOG_NAME = /^[\w-]{1,64}$/;

type TopicHistoryDependencies = SigningKeyDependencies & {
  readonly blobs: BlobStore;
  readonly logger: Logger;
};

type TopicHistorySettings = SigningKeySettings & {
  readonly publicUrl: string;
  readonly connection: KafkaConnection;
  readonly topicPrefix: string;
};

/** A message of the topic whose signatures are not verified yet. */
type SentCheckpoint = NamedCheckpoint & { readonly note: string };

/**
 * Creates the guard that reads the topic of checkpoints before logs are signed. It writes what the database has lost to the
 * file store, as if the file store had not been restored: the logs then continue under other origins.
 */
export const createTopicGuard = (
  dependencies: TopicHistoryDependencies,
  settings: TopicHistorySettings,
): HistoryGuard => {
  const { database } = dependencies.store;
  const history = new TopicHistory(dependencies, settings);
  const topic = toTopicName({ topic: CHECKPOINTS_TOPIC }, settings.topicPrefix);
  const tail = new TopicTail(settings.connection, topic, dependencies.logger);
  return {
    source: 'kafka',
    recordFindings: () => history.writeLost(),
    check: async (stopped) => {
      const last = await findLastSignedAt(database);
      await tail.read({
        since: last && new Date(last.getTime() - CLOCK_SKEW_MS),
        atLeast: LAST_MESSAGES,
        handle: (messages) => history.collectLost(messages),
        signal: AbortSignal.any([stopped, AbortSignal.timeout(READ_MS)]),
      });
    },
  };
};

/** Compares logs with the checkpoints in the topic. */
class TopicHistory {
  private readonly published: PublishedCheckpoints;
  private readonly database: Database;
  private readonly listKeys: () => Promise<readonly LogSigningKey[]>;
  /** The newest checkpoint of each log that this database does not continue. */
  private readonly lost = new Map<string, SentCheckpoint>();

  constructor(
    private readonly dependencies: TopicHistoryDependencies,
    private readonly settings: TopicHistorySettings,
  ) {
    const keys = createSigningKeys(dependencies, settings);
    this.published = new PublishedCheckpoints(dependencies.blobs);
    this.database = dependencies.store.database;
    // A site without a key has signed nothing.
    this.listKeys = async () => ((await keys.findNewest()) === null ? [] : keys.list());
  }

  async collectLost(messages: readonly TailMessage[]): Promise<void> {
    const sent = messages.flatMap((message) => parseMessage(message) ?? []);
    checkpointMetrics.foreignMessages.inc(messages.length - sent.length);
    const unknown = await selectUnknown(this.database, sent);
    if (unknown.length === 0) return;
    const keys = await this.listKeys();
    for (const [organization, checkpoints = []] of Object.entries(Object.groupBy(unknown, (each) => each.organization)))
      await this.collectFromLog(organization, checkpoints, keys);
  }

  /** Compares each log again, because it may have been signed since its checkpoint was read. */
  async writeLost(): Promise<void> {
    for (const [organization, checkpoint] of this.lost) {
      const history = await readKnownHistory(this.database, organization);
      if (!(await this.isContinued(checkpoint, history))) await this.writePublished(checkpoint, history);
      this.lost.delete(organization);
    }
  }

  private async collectFromLog(
    organization: string,
    checkpoints: readonly SentCheckpoint[],
    keys: readonly LogSigningKey[],
  ): Promise<void> {
    const history = await readKnownHistory(this.database, organization);
    const first = history.origin ?? buildFirstOrigin(this.settings.publicUrl, organization, []);
    for (const checkpoint of checkpoints) {
      if (!isSameLog(checkpoint.origin, first) || !isSigned(checkpoint, history, keys)) {
        checkpointMetrics.foreignMessages.inc();
        continue;
      }
      const newest = this.lost.get(organization);
      if (newest && !isNewer(checkpoint, newest)) continue;
      if (!(await this.isContinued(checkpoint, history))) this.lost.set(organization, checkpoint);
    }
  }

  /** Returns whether the log of this database contains the history of the checkpoint, or has given up its origin. */
  private async isContinued(
    { organization, origin, size, root }: SentCheckpoint,
    history: KnownHistory,
  ): Promise<boolean> {
    if (history.origin === null) return false;
    if (origin !== history.origin) return getOriginNumber(origin) <= getOriginNumber(history.origin);
    if (size > history.size) return false;
    return root.equals(await computeWithTiles(this.database, organization, (source) => computeRoot(size, source)));
  }

  /** Replaces the file of a log, unless it shows already that the database is older. */
  private async writePublished(checkpoint: SentCheckpoint, history: KnownHistory): Promise<void> {
    const { organization, origin, size, note } = checkpoint;
    const published = await this.published.find(organization);
    const isLater = published === null || isNewer(checkpoint, published);
    const isOtherHistory = published?.origin === origin && size <= history.size && published.size <= history.size;
    if (!isLater && !isOtherHistory) return;
    this.dependencies.logger.warn(
      { organization, origin, size, currentOrigin: history.origin, currentSize: history.size },
      'the topic has a checkpoint that this database lost; the log continues under another origin',
    );
    await this.published.write(organization, note);
    await markUnsigned(this.database, organization);
  }
}

const isNewer = (a: Pick<NamedCheckpoint, 'origin' | 'size'>, b: Pick<NamedCheckpoint, 'origin' | 'size'>): boolean => {
  const numbers = getOriginNumber(a.origin) - getOriginNumber(b.origin);
  return numbers > 0 || (numbers === 0 && a.size > b.size);
};

/** Returns null for a message that is no checkpoint. Anybody who may write to the topic has chosen its content. */
const parseMessage = ({ key, value }: TailMessage): SentCheckpoint | null => {
  const organization = key?.toString('utf8') ?? '';
  if (!LOG_NAME.test(organization) || !value || value.length > MAX_VALUE_BYTES) return null;
  try {
    const { checkpoint } = JSON.parse(value.toString('utf8')) as { readonly checkpoint?: unknown };
    if (typeof checkpoint !== 'string') return null;
    return { ...parseCheckpoint(splitNote(checkpoint).text), organization, note: checkpoint };
  } catch {
    return null;
  }
};

/** Returns whether this site has signed the checkpoint, also with a key of an origin that the database has lost. */
const isSigned = ({ origin, note }: SentCheckpoint, history: KnownHistory, keys: readonly LogSigningKey[]): boolean => {
  const stored = history.keys
    .filter((key) => key.origin === origin)
    .map(({ verifierKey }) => parseVerifierKey(verifierKey));
  try {
    openCheckpoint(note, [...stored, ...keys.map((key) => createVerifierKey(origin, key.getPublicKey(origin)))]);
    return true;
  } catch {
    return false;
  }
};
