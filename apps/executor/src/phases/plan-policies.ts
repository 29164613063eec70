import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import type { Readable } from 'node:stream';
import type { PolicyReport } from '../api/executor-api.js';
import type { JobPolicy, PhaseJob } from '../api/phase-job.js';
import { RunError } from '../executor-error.js';
import { hasSyntaxError, readPolicyOutcome, restrictCapabilities, type OpaOutcome } from '../output/policy-output.js';
import { maskBeginning } from '../output/policy-text.js';
import { SecretMasker } from '../output/secret-masker.js';
import type { SandboxExit, SandboxMount } from '../sandbox/sandbox.js';
import type { PhaseContext } from './phase-context.js';
import { PhaseStoppedError } from './phase-stop.js';
import type { PhaseFolder } from './phase-folder.js';

const INPUT = 'input.json';
/** OPA ends an evaluation after this time. */
const EVALUATION_SECONDS = 10;
/** With the time to read a large plan. Then everything is killed. */
const MOST_SECONDS = 60;
/** Of all policies of a plan together: the run holds the lock of the workspace. */
const TOTAL_SECONDS = 600;
/** Characters of a result that the server accepts. */
const MAX_CHARACTERS = 1_000;
/** Bytes of the texts of all results in the report. The server accepts no report with 256 KiB. */
const MAX_TEXTS_BYTES = 100_000;
const MAX_OUTPUT_BYTES = 1_048_576;

const EXCEEDED = {
  memory: 'It needs more memory than a run of this executor can have',
  disk: 'It needs more disk space than a run of this executor can have',
  space: 'The disk of this executor is almost full',
  time: `It takes longer than ${MOST_SECONDS} seconds`,
} as const satisfies Record<NonNullable<SandboxExit['exceeded']>, string>;

/** Returns what policies read about the run, with the names of its variables, and where the input is written. */
export const describePolicyInput = (job: PhaseJob, folder: PhaseFolder) => {
  const variables = [
    ...job.variables.map(({ key, sensitive }) => [key, { category: 'terraform', sensitive }] as const),
    ...job.environment.map(({ key, sensitive }) => [key, { category: 'env', sensitive }] as const),
  ];
  return {
    run: { ...job['policy-input'], variables: Object.fromEntries<object>(variables) },
    path: join(folder.policies, INPUT),
  };
};

type OpaResult = { readonly output: string; readonly printed: string; readonly exit: SandboxExit };

type EvaluatedText = OpaOutcome & { readonly printed: string };

const createError = (message: string): EvaluatedText => ({ status: 'errored', message, printed: '' });

/** Reads a stream to its end, and returns the beginning as text. */
const readBeginning = async (stream: Readable): Promise<string> => {
  let bytes = 0;
  const beginning = stream.filter((chunk: Buffer) => (bytes += chunk.length) <= MAX_OUTPUT_BYTES);
  return readAll(beginning);
};

/** Evaluates the policies of one plan, each in a sandbox without network and environment. */
class PlanPolicies {
  private readonly masker: SecretMasker | null;
  private readonly programs = new Map<string, Promise<string>>();
  private readonly deadline: number;
  private bytesLeft = MAX_TEXTS_BYTES;

  constructor(
    private readonly context: PhaseContext,
    sensitiveValues: readonly string[] | null,
  ) {
    this.masker = createMasker(sensitiveValues);
    this.deadline = context.now().getTime() + TOTAL_SECONDS * 1_000;
  }

  async evaluate(policy: JobPolicy): Promise<PolicyReport> {
    const { printed, ...outcome } = await this.evaluateText(policy);
    return {
      policy: policy.id,
      'tool-version': policy['opa-version'],
      status: outcome.status,
      message: this.show(outcome.message),
      printed: this.show(printed),
    };
  }

  private async evaluateText({ query, ...policy }: JobPolicy): Promise<EvaluatedText> {
    const { job, sandbox } = this.context;
    // Without one, nothing limits the memory of OPA.
    if (sandbox.name === 'none') return createError('This executor has no sandbox, and evaluates policies only in one');
    const digest = policy['text-sha256'];
    if (digest === null) return createError('It has no text: upload one');
    const text = job['policy-texts'][digest];
    if (text === undefined) return createError('Its text was deleted or replaced while the plan began: plan again');
    try {
      const file = `${digest}.rego`;
      await writeFile(join(this.context.folder.policies, file), text, { mode: 0o600 });
      const result = await this.runEvaluation(policy['opa-version'], file, query);
      const { exceeded } = result.exit;
      if (exceeded !== null) return createError(EXCEEDED[exceeded]);
      return { ...readPolicyOutcome(result.output, query), printed: result.printed };
    } catch (error) {
      if (error instanceof PhaseStoppedError) throw error;
      return createError(this.describeFailure(error));
    }
  }

  /** Resolves to the path of OPA. Its capabilities are in a file. */
  private prepareProgram(version: string): Promise<string> {
    const prepared = this.programs.get(version) ?? this.prepareOnce(version);
    this.programs.set(version, prepared);
    return prepared;
  }

  private async prepareOnce(version: string): Promise<string> {
    const { folder, job, tools } = this.context;
    const release = job['opa-versions'].find((one) => one.version === version);
    const { path } = await tools.findOpa(version, release?.archives ?? [], release?.['is-site-release'] ?? false);
    const { output } = await this.run(path, ['capabilities', '--current']);
    const capabilities = restrictCapabilities(output);
    if (capabilities === null) throw new RunError(`OPA ${version} prints no capabilities: choose a later version`);
    await writeFile(join(folder.policies, toCapabilitiesFile(version)), capabilities, { mode: 0o600 });
    return path;
  }

  /** A text that the version of OPA cannot read may have the syntax from before version 1. */
  private async runEvaluation(version: string, file: string, query: string): Promise<OpaResult> {
    const program = await this.prepareProgram(version);
    const result = await this.run(program, this.listParameters(version, file, query));
    if (!hasSyntaxError(result.output)) return result;
    const earlier = await this.run(program, this.listParameters(version, file, query, '--v0-compatible'));
    return earlier.output === '' || hasSyntaxError(earlier.output) ? result : earlier;
  }

  private listParameters(version: string, file: string, query: string, ...more: readonly string[]): readonly string[] {
    const locate = (name: string): string => join(this.context.sandbox.locate(this.mount), name);
    return [
      'eval',
      ...more,
      '--format=json',
      `--timeout=${EVALUATION_SECONDS}s`,
      `--capabilities=${locate(toCapabilitiesFile(version))}`,
      `--data=${locate(file)}`,
      `--input=${locate(INPUT)}`,
      '--',
      query,
    ];
  }

  private get mount(): SandboxMount {
    return { source: this.context.folder.policies, target: '/policies', writable: false };
  }

  private async run(source: string, parameters: readonly string[]): Promise<OpaResult> {
    const { now, sandbox, stop } = this.context;
    stop.throwIfRequested();
    const secondsLeft = Math.ceil((this.deadline - now().getTime()) / 1_000);
    if (secondsLeft <= 0) throw new RunError(`All policies of a plan have ${TOTAL_SECONDS} seconds together`);
    const program: SandboxMount = { source, target: '/tools/opa', writable: false };
    const process = await sandbox.start({
      argv: [sandbox.locate(program), ...parameters],
      workingDirectory: '/',
      environment: {},
      mounts: [this.mount, program],
      seconds: Math.min(MOST_SECONDS, secondsLeft),
      isOffline: true,
    });
    const work = Promise.all([readBeginning(process.stdout), readBeginning(process.stderr), process.exit]);
    const [output, printed, exit] = await stop.supervise(process, work);
    stop.throwIfRequested();
    return { output, printed, exit };
  }

  /** Returns what the report says of a text. */
  private show(text: string): string {
    if (text === '') return '';
    if (this.masker === null) return 'Not shown: the plan has too many sensitive values';
    const beginning = maskBeginning(text, MAX_CHARACTERS, [this.masker, this.context.log.masker]);
    this.bytesLeft -= Buffer.byteLength(JSON.stringify(beginning));
    return this.bytesLeft >= 0
      ? beginning
      : 'Not shown: the messages of all policies of the plan are too long together';
  }

  /** Other messages may contain paths of the machine. */
  private describeFailure(error: unknown): string {
    if (error instanceof RunError) return error.message;
    this.context.logger.warn({ run: this.context.claimed.run, err: error }, 'policy not evaluated');
    return 'The executor failed unexpectedly. Its own log says more.';
  }
}

const toCapabilitiesFile = (version: string): string => `capabilities-${encodeURIComponent(version)}.json`;

/** Returns null if there are too many values. */
const createMasker = (sensitiveValues: readonly string[] | null): SecretMasker | null => {
  if (sensitiveValues === null) return null;
  try {
    return new SecretMasker(sensitiveValues);
  } catch {
    return null;
  }
};

/** Evaluates the policies of a plan. An error of a policy is a result, and the server decides what it means. */
export const evaluatePolicies = async (
  context: PhaseContext,
  sensitiveValues: readonly string[] | null,
): Promise<readonly PolicyReport[]> => {
  const { policies } = context.job;
  if (policies.length === 0) return [];
  const evaluation = new PlanPolicies(context, sensitiveValues);
  const reports: PolicyReport[] = [];
  for (const policy of policies) reports.push(await evaluation.evaluate(policy));
  return reports;
};
