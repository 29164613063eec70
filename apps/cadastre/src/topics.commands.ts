import type { Command } from 'commander';
import { createLogger, StartupError } from '#platform/host';
import type { Settings } from '#platform/settings';
import { describeAction, describeDifference, type TopicDifference } from '#storage/message-log';
import { applySiteTopics, compareSiteTopics, listSiteTopics, requireKafka } from '../../kafka-topics.js';
import { withBrokers } from './broker-outages.js';
import { loadCommandSettings, withErrorReport } from './command-actions.js';
import { promptAtTerminal, requireConfirmation, type Confirm } from './confirmation.js';
import { printLine } from './output.js';

type TopicOptions = { readonly json?: boolean };
type TopicApplyOptions = { readonly yes?: boolean; readonly confirm: Confirm | null };

const createCommandLogger = ({ logLevel }: Settings) => createLogger(logLevel, process.stderr);

const findDifferences = (settings: Settings): Promise<readonly TopicDifference[]> =>
  withBrokers(requireKafka(settings), () => compareSiteTopics(settings, createCommandLogger(settings)));

const countTopics = (settings: Settings): number => listSiteTopics(settings, settings.kafka?.topicPrefix ?? '').length;

const describeAgreement = (settings: Settings): string =>
  `All ${countTopics(settings)} topics agree with the settings.`;

/** Prints how the topics differ from the settings. Returns whether they agree. */
const runTopicsCheck = async (settings: Settings, { json }: TopicOptions): Promise<boolean> => {
  const differences = await findDifferences(settings);
  if (json) printLine(JSON.stringify(differences, null, 2));
  else printDifferences(settings, differences);
  return differences.length === 0;
};

const printDifferences = (settings: Settings, differences: readonly TopicDifference[]): void => {
  if (differences.length === 0) return printLine(describeAgreement(settings));
  for (const difference of differences) printLine(describeDifference(difference));
  const differing = new Set(differences.map(({ topic }) => topic)).size;
  printLine(
    `${differing} of ${countTopics(settings)} topics differ from the settings. ` +
      'Run "cadastre topics plan" to see what can be changed.',
  );
};

/** Prints what `topics apply` would do. */
const runTopicsPlan = async (settings: Settings, { json }: TopicOptions): Promise<void> => {
  const differences = await findDifferences(settings);
  if (json) return printLine(JSON.stringify(differences, null, 2));
  printPlan(settings, differences);
};

const printPlan = (settings: Settings, differences: readonly TopicDifference[]): void => {
  if (differences.length === 0) return printLine(describeAgreement(settings));
  for (const difference of differences) printLine(describeAction(difference));
};

/** Prints the plan, asks, and carries it out. Kafka cannot give back messages that a shorter retention deletes. */
const runTopicsApply = async (settings: Settings, { yes = false, confirm }: TopicApplyOptions): Promise<void> => {
  const differences = await findDifferences(settings);
  printPlan(settings, differences);
  const changes = differences.filter(({ action }) => action !== 'keep');
  if (changes.length === 0) return;
  if (!yes) await requireConfirmation('apply', confirm);
  const apply = () => applySiteTopics(settings, createCommandLogger(settings));
  const remaining = await withBrokers(requireKafka(settings), apply);
  const failed = remaining.filter(({ action }) => action !== 'keep');
  if (failed.length > 0) throw new StartupError(`Kafka did not change: ${failed.map(describeDifference).join('; ')}`);
  const topics = new Set(changes.map(({ topic }) => topic)).size;
  printLine(`Changed ${topics} topic${topics === 1 ? '' : 's'}.`);
};

/** Adds `topics check`, `topics plan` and `topics apply`. */
export const addTopicsCommands = (program: Command): void => {
  const topics = program.command('topics').description('topics of Kafka: check, plan, apply');

  topics
    .command('check')
    .description('compare the topics with the settings KAFKA_TOPIC_…; exits with 1 if they differ')
    .option('--json', 'print JSON')
    .action(
      withErrorReport(async (options: TopicOptions) => {
        if (!(await runTopicsCheck(await loadCommandSettings(), options))) process.exitCode = 1;
      }),
    );

  topics
    .command('plan')
    .description('print what "topics apply" would do, and why it would not change the rest')
    .option('--json', 'print JSON')
    .action(withErrorReport(async (options: TopicOptions) => runTopicsPlan(await loadCommandSettings(), options)));

  topics
    .command('apply')
    .description('create missing topics, and change the configuration of existing ones')
    .option('--yes', 'do not ask for confirmation')
    .action(
      withErrorReport(async (options: { yes?: boolean }) =>
        runTopicsApply(await loadCommandSettings(), { ...options, confirm: promptAtTerminal() }),
      ),
    );
};
