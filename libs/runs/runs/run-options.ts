import { unprocessable } from '#kernel';

/** Options of a run as requested. Values of variables may be secrets, so only their names are here. */
export type RunOptions = {
  readonly isDestroy: boolean;
  readonly refresh: boolean;
  readonly refreshOnly: boolean;
  readonly replaceAddrs: readonly string[];
  readonly targetAddrs: readonly string[];
  /** Terraform actions that the run invokes. */
  readonly invokeActionAddrs: readonly string[];
  /** Folders with policies. Cadastre evaluates none; executors read them. */
  readonly policyPaths: readonly string[];
  readonly planOnly: boolean;
  readonly savePlan: boolean;
  readonly autoApply: boolean;
  readonly allowEmptyApply: boolean;
  readonly allowConfigGeneration: boolean;
  readonly debuggingMode: boolean;
  readonly terraformVersion: string;
  readonly variables: readonly string[];
};

/** Options of a request that names none; the workspace and the configuration decide the rest. */
export const DEFAULT_OPTIONS: Omit<RunOptions, 'terraformVersion' | 'planOnly' | 'autoApply'> = {
  isDestroy: false,
  refresh: true,
  refreshOnly: false,
  replaceAddrs: [],
  targetAddrs: [],
  invokeActionAddrs: [],
  policyPaths: [],
  savePlan: false,
  allowEmptyApply: false,
  allowConfigGeneration: false,
  debuggingMode: false,
  variables: [],
};

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
