import type { Command } from 'commander';
import { StartupError, SystemClock } from '#platform/host';
import type { KafkaSettings, Settings } from '#platform/settings';
import {
  buildSecurityOptions,
  createKafkaClient,
  findReplayRefusal,
  hasTopic,
  MessageSender,
  ReplayError,
  replayLog,
  toTopicName,
  type NamedTopic,
  type ReplayRequest,
  type ReplayResult,
} from '#storage/message-log';
import { listSiteTopics, requireKafka } from '../../kafka-topics.js';
import { eventRegistry } from '../../modules.js';
import type { Runtime } from '../../runtime.js';
import { TerminalProgress } from './backup/backup-progress.js';
import { withBrokers } from './broker-outages.js';
import { promptAtTerminal, requireConfirmation, type Confirm } from './confirmation.js';
import { loadCommandSettings, withErrorReport } from './command-actions.js';
import { withRuntime } from './command-runtime.js';
import { runUntilStopRequest } from './signals.js';
import { printLine } from './output.js';
import { addReplayOptions, type ReplayCommandOptions } from './replay-options.js';

/**
 * Returns the types of the events that the topic gets; null for all. A topic of the live events gets only its own types.
 * Other topics of the site are refused, because their consumers would take events for something else.
 */
const selectTypes = (
  { topicPrefix }: KafkaSettings,
  live: NamedTopic | undefined,
  { to, type: types }: ReplayCommandOptions,
): readonly string[] | null => {
  if (!live) return types ?? null;
  if (live.use !== 'log') {
    const example = toTopicName({ topic: 'workspaces' }, topicPrefix);
    throw new StartupError(
      `--to: ${to} does not contain events; choose a topic of events such as ${example}, or a new topic. Nothing was sent`,
    );
  }
  const own = Object.entries(eventRegistry).flatMap(([type, kind]) =>
    toTopicName(kind, topicPrefix) === to ? [type] : [],
  );
  const foreign = types?.filter((type) => !own.includes(type)) ?? [];
  if (foreign.length === 0) return types ?? own;
  throw new StartupError(
    `--type: the live topic ${to} does not get ${foreign.join(', ')}; choose one of ${own.join(', ')}, or a new topic. ` +
      'Nothing was sent',
  );
};

const confirmLiveTopic = async ({ to, yes = false }: ReplayCommandOptions, confirm: Confirm | null): Promise<void> => {
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
  // With a limited retention, Kafka would soon delete old events: messages have the times of their events.
  if (create) return sender.ensureTopics([{ name: to, use: 'log' }], { ...kafka.topics, retentionDays: null });
  if (await hasTopic(createKafkaClient(connectTo(kafka), logger), to)) return;
  throw new StartupError(`--to: the topic ${to} does not exist; create it, or add --create. Nothing was sent`);
};

const sendEvents = async (
  runtime: Runtime,
  kafka: KafkaSettings,
  request: ReplayRequest,
  options: ReplayCommandOptions,
  signal: AbortSignal,
): Promise<ReplayResult> => {
  const sender = new MessageSender(connectTo(kafka), runtime.logger, null);
  const session = await runtime.store.database.session();
  const progress = new TerminalProgress();
  try {
    const refusal = await findReplayRefusal(request, (statement) => session.run(statement));
    if (refusal !== null) throw new StartupError(`${refusal}. Nothing was sent`);
    await prepareTopic(runtime, kafka, sender, options);
    return await replayLog(request, {
      store: runtime.store,
      registry: eventRegistry,
      origin: { source: runtime.settings.publicUrl, prefix: kafka.topicPrefix, mode: kafka.cloudEvents },
      sender,
      clock: new SystemClock(),
      run: (statement) => session.run(statement),
      signal,
      report: ({ sent, position }) => progress.report(`position ${position}, events sent`, sent, null),
    });
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
  const live = listSiteTopics(settings, kafka.topicPrefix).find(({ name }) => name === options.to);
  const request = {
    ...options,
    topic: options.to,
    toPosition: options.toPosition ?? null,
    types: selectTypes(kafka, live, options),
    isLive: live !== undefined,
  };
  if (live) await confirmLiveTopic(options, confirm);
  const report = ({ sent, next }: ReplayResult): void => {
    printLine(`Sent ${sent} event${sent === 1 ? '' : 's'} to ${options.to}.`);
    if (next !== null) process.stderr.write(`Stopped. To continue, run the same command with --from ${next}\n`);
  };
  let result: ReplayResult = { sent: 0, next: null };
  const send = async (runtime: Runtime): Promise<void> => {
    result = await sendEvents(runtime, kafka, request, options, stopping).catch((error: unknown) => {
      if (error instanceof ReplayError) report(error.result);
      throw error;
    });
  };
  await withBrokers(kafka, () => withRuntime(settings, send));
  report(result);
  return result.next === null;
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
