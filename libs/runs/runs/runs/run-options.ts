import { z } from 'zod';
import { unprocessable } from '#platform/kernel';
import { defineAttributes, limitBytes, storedAttribute, text, type AttributeValues } from '#api/json-api/rules';

const flag = (initial: boolean) => ({ schema: z.boolean(), initial, body: z.boolean().nullish() });
/** The workspace or the configuration decides the value if the request does not name it. */
const undecidedFlag = { schema: z.boolean(), body: z.boolean().nullish() };
/** The first append of a run contains four lists, and its run tasks. It has at most 768 KiB. */
const MAX_LIST_BYTES = 65_536;

const addresses = {
  schema: z.array(z.string()),
  initial: [],
  body: limitBytes(z.array(text(1_000)).max(200, { error: 'too many, at most 200 of them' }), MAX_LIST_BYTES).nullish(),
};

/** Options of a run as requested. Options without `body` are read in runs.body.ts. */
const options = {
  isDestroy: flag(false),
  refresh: flag(true),
  refreshOnly: flag(false),
  replaceAddrs: addresses,
  targetAddrs: addresses,
  /** Terraform actions that the run invokes. */
  invokeActionAddrs: { ...addresses, since: 2 },
  /** Folders with policies. Cadastre evaluates none; executors read them. */
  policyPaths: { ...storedAttribute(addresses), since: 2 },
  planOnly: undecidedFlag,
  savePlan: flag(false),
  autoApply: undecidedFlag,
  allowEmptyApply: flag(false),
  allowConfigGeneration: flag(false),
  debuggingMode: flag(false),
  terraformVersion: { schema: z.string() },
  /** Names of variables. Their values may be secrets, so they are not here. */
  variables: { schema: z.array(z.string()), initial: [] },
  /** The run of another workspace whose apply has started this run. */
  triggeredBy: {
    schema: z.strictObject({ workspace: z.string(), run: z.string() }).nullable(),
    initial: null,
    since: 3,
  },
} as const;

export const RUN_OPTIONS = defineAttributes(options);
export type RunOptions = AttributeValues<typeof options>;

/**
 * Options of a run whose request sets no options. The workspace and the configuration decide what the table leaves out.
 */
export const DEFAULT_OPTIONS = RUN_OPTIONS.initial;

type RunOperation = 'plan_only' | 'plan_and_apply' | 'save_plan' | 'refresh_only' | 'destroy' | 'empty_apply';

/** Returns the vendor's name for the kind of run. */
export const getOperation = (options: RunOptions): RunOperation => {
  if (options.planOnly) return 'plan_only';
  if (options.savePlan) return 'save_plan';
  if (options.refreshOnly) return 'refresh_only';
  if (options.isDestroy) return 'destroy';
  return options.allowEmptyApply ? 'empty_apply' : 'plan_and_apply';
};

export const checkOptions = (options: RunOptions): void => {
  if (options.isDestroy && options.refreshOnly) {
    throw unprocessable('Refresh only cannot be combined with is-destroy', 'refresh-only');
  }
  if (options.planOnly && options.savePlan)
    throw unprocessable('Save plan cannot be combined with plan-only', 'save-plan');
};
