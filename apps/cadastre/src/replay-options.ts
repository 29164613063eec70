import { InvalidArgumentError, type Command } from 'commander';
import type { ReplayStart } from '#storage/message-log';
import { eventRegistry } from '../../modules.js';
import { parsePosition, parseTime } from './backup/backup-options.js';
import { parseCount } from './seed/seed-options.js';

export type ReplayCommandOptions = {
  readonly from: ReplayStart;
  readonly to: string;
  readonly toPosition?: number;
  readonly type?: readonly string[];
  readonly rate: number;
  readonly create?: boolean;
  readonly yes?: boolean;
};

const DEFAULT_RATE = 1_000;
const MAX_RATE = 100_000;

const POSITION = /^[1-9]\d{0,14}$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** Parses a position, a time with its offset from UTC, or a date, which begins at midnight UTC. */
export const parseReplayStart = (text: string): ReplayStart => {
  if (POSITION.test(text)) return { position: Number(text) };
  if (text.includes('T')) return { time: new Date(parseTime(text)) };
  const time = new Date(DATE.test(text) ? `${text}T00:00:00Z` : Number.NaN);
  // JavaScript takes February 30 for March 2.
  if (!Number.isNaN(time.getTime()) && time.toISOString().startsWith(text)) return { time };
  throw new InvalidArgumentError(
    'must be a position (a whole number from 1), a date such as 2026-11-24, which begins at midnight UTC, ' +
      `or a time such as 2026-11-24T10:30:00Z, got "${text}"`,
  );
};

const TOPIC_NAME = /^(?!__)(?!\.{1,2}$)[a-zA-Z0-9._-]{1,249}$/;

/** Parses the full name of a topic. Names that begin with "__" belong to Kafka. */
export const parseTopicName = (name: string): string => {
  if (TOPIC_NAME.test(name)) return name;
  throw new InvalidArgumentError(
    'must have 1 to 249 letters, digits, ".", "_" and "-", must not begin with "__", and must not be "." or "..", ' +
      `got "${name}"`,
  );
};

const collectType = (type: string, all: readonly string[] = []): readonly string[] => {
  if (eventRegistry[type]) return [...all, type];
  throw new InvalidArgumentError(`must be the type of an event, such as WorkspaceLocked, got "${type}"`);
};

/** Adds the options of `replay` to its command. */
export const addReplayOptions = (command: Command): Command =>
  command
    .requiredOption(
      '--from <position|date|time>',
      'the first position, or a date or time such as 2026-11-24T10:30:00Z',
      parseReplayStart,
    )
    .requiredOption('--to <topic>', 'full name of the topic that gets the events', parseTopicName)
    .option('--to-position <n>', 'the last position; without it, the end of the log', parsePosition)
    .option(
      '--type <event>',
      'only events of this type, such as WorkspaceLocked; repeatable. A topic of the live events gets only its own types',
      collectType,
    )
    .option('--rate <n>', 'most events in a second', parseCount(1, MAX_RATE), DEFAULT_RATE)
    .option('--create', 'create the topic if it does not exist')
    .option('--yes', 'send to a topic of the live events without a confirmation');
