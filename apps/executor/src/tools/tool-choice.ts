import type { PhaseJob } from '../api/phase-job.js';
import { RunError } from '../executor-error.js';

export const TOOL_NAMES = ['terraform', 'tofu'] as const;
export type ToolName = (typeof TOOL_NAMES)[number];

/** The programs that an executor downloads. OPA evaluates policies. */
export type ExecutableName = ToolName | 'opa';

/** The environment variable with which a workspace, or a set of variables, chooses between Terraform and OpenTofu. */
export const TOOL_VARIABLE = 'CADASTRE_IAC_TOOL';

/** Returns the tool of a run: the choice of its variables, or what its version means. */
export const chooseTool = (job: PhaseJob): ToolName => {
  const value = job.environment.find(({ key }) => key === TOOL_VARIABLE)?.value;
  if (value === undefined) return job['iac-tool'];
  const name = TOOL_NAMES.find((one) => one === value);
  if (name !== undefined) return name;
  throw new RunError(
    `The environment variable ${TOOL_VARIABLE} must be terraform or tofu, got ${JSON.stringify(value)}.`,
  );
};
