import { InvalidArgumentError, type Command } from 'commander';
import { StartupError, SystemClock, type KafkaSettings, type Settings } from '#host';
import {
  buildSecurityOptions,
  createKafkaClient,
  hasTopic,
  MessageSender,
  replayLog,
  type ReplayResult,
  type ReplayStart,
} from '#message-log';
import { listSiteTopics, requireKafka } from '../../kafka-topics.js';
import { eventRegistry } from '../../modules.js';
import type { Runtime } from '../../runtime.js';
import { parsePosition, parseTime } from './backup/backup-options.js';
import { TerminalProgress } from './backup/backup-progress.js';
import { promptAtTerminal, requireConfirmation, type Confirm } from './confirmation.js';
import { loadCommandSettings, withErrorReport } from './command-actions.js';
import { withRuntime } from './command-runtime.js';
import { runUntilStopRequest } from './signals.js';
import { printLine } from './output.js';
import { parseCount } from './seed/seed-options.js';

type ReplayCommandOptions = {
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
const TOPIC_NAME = /^[a-zA-Z0-9._-]{1,249}$/;

const parseStart = (text: string): ReplayStart =>
  text.includes('T') ? { time: new Date(parseTime(text)) } : { position: parsePosition(text) };

const parseTopic = (name: string): string => {
  if (TOPIC_NAME.test(name)) return name;
  throw new InvalidArgumentError(`must have 1 to 249 letters, digits, ".", "_" and "-", got "${name}"`);
};

const collectType = (type: string, all: readonly string[] = []): readonly string[] => {
  if (eventRegistry[type]) return [...all, type];
  throw new InvalidArgumentError(`must be the type of an event, such as WorkspaceLocked, got "${type}"`);
};

/** Adds the options of `replay` to its command. */
const addReplayOptions = (command: Command): Command =>
  command
    .requiredOption('--from <position|time>', 'the first position, or a time such as 2026-11-24T10:30:00Z', parseStart)
    .requiredOption('--to <topic>', 'full name of the topic that gets the events', parseTopic)
    .option('--to-position <n>', 'the last position; without it, the end of the log', parsePosition)
    .option('--type <event>', 'only events of this type, such as WorkspaceLocked; repeatable', collectType)
    .option('--rate <n>', 'most events in a second', parseCount(1, MAX_RATE), DEFAULT_RATE)
    .option('--create', 'create the topic if it does not exist')
    .option('--yes', 'send to a topic of the live events without a confirmation');

/** Only topics of events can get a replay: consumers of the others would take events for something else. */
const requireTarget = async (
  settings: Settings,
  kafka: KafkaSettings,
  { to, yes = false }: ReplayCommandOptions,
  confirm: Confirm | null,
): Promise<void> => {
  const live = listSiteTopics(settings, kafka.topicPrefix).find(({ name }) => name === to);
  if (!live) return;
  if (live.use !== 'log') throw new StartupError(`--to: ${to} is no topic of events. Nothing was sent`);
  if (yes) return;
  process.stderr.write(`${to} is a topic of the live events. Its consumers get the events again.\n`);
  await requireConfirmation(to, confirm);
};

const connectTo = (kafka: KafkaSettings) => ({
  brokers: kafka.brokers,
  clientId: 'cadastre-replay',
  ...buildSecurityOptions(kafka),
});

const prepareTopic = async (
  { logger }: Runtime,
  kafka: KafkaSettings,
  sender: MessageSender,
  { to, create = false }: ReplayCommandOptions,
): Promise<void> => {
  if (create) return sender.ensureTopics([{ name: to, use: 'log' }], kafka.topics);
  if (await hasTopic(createKafkaClient(connectTo(kafka), logger), to)) return;
  throw new StartupError(`--to: the topic ${to} does not exist; create it, or add --create. Nothing was sent`);
};

const sendEvents = async (
  runtime: Runtime,
  kafka: KafkaSettings,
  options: ReplayCommandOptions,
  signal: AbortSignal,
): Promise<ReplayResult> => {
  const sender = new MessageSender(connectTo(kafka), runtime.logger, null);
  const session = await runtime.store.database.session();
  const progress = new TerminalProgress();
  try {
    await prepareTopic(runtime, kafka, sender, options);
    return await replayLog(
      { ...options, topic: options.to, toPosition: options.toPosition ?? null, types: options.type ?? null },
      {
        store: runtime.store,
        registry: eventRegistry,
        origin: { source: runtime.settings.publicUrl, prefix: kafka.topicPrefix, mode: kafka.cloudEvents },
        sender,
        clock: new SystemClock(),
        run: (statement) => session.run(statement),
        signal,
        report: ({ sent, position }) => progress.report(`position ${position}, events sent`, sent, null),
      },
    );
  } finally {
    progress.clear();
    await session.close();
    await sender.disconnect();
  }
};

/** Sends events of the log to a topic again. Returns false if it was stopped. */
const runReplay = async (
  settings: Settings,
  options: ReplayCommandOptions,
  confirm: Confirm | null,
  stopping: AbortSignal,
): Promise<boolean> => {
  const kafka = requireKafka(settings);
  await requireTarget(settings, kafka, options, confirm);
  let result: ReplayResult = { sent: 0, next: null };
  await withRuntime(settings, async (runtime) => {
    result = await sendEvents(runtime, kafka, options, stopping);
  });
  printLine(`Sent ${result.sent} event${result.sent === 1 ? '' : 's'} to ${options.to}.`);
  if (result.next === null) return true;
  process.stderr.write(`Stopped. To continue, run the same command with --from ${result.next}\n`);
  return false;
};

/** Adds `replay`. */
export const addReplayCommand = (program: Command): void => {
  addReplayOptions(
    program
      .command('replay')
      .description('send events of the log to a topic of Kafka again, while the publisher runs; Ctrl-C stops it'),
  ).action(
    withErrorReport((options: ReplayCommandOptions) =>
      runUntilStopRequest(async (stopping) => {
        if (!(await runReplay(await loadCommandSettings(), options, promptAtTerminal(), stopping)))
          process.exitCode = 1;
      }).then(() => undefined),
    ),
  );
};
