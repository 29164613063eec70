import type { AssessedPlan } from '../output/assessed-plan.js';
import type { ChangeCounts } from '../output/change-counts.js';

/** The character between the documents of a file. In JSON, it is always escaped. */
export const DOCUMENT_SEPARATOR = '\x1e';

/** A document to parse, by the path of its file. */
export type DocumentTask =
  | {
      readonly type: 'ReadPlan';
      /** What `terraform providers schema -json` and `terraform show -json` have printed. */
      readonly schemasAndPlan: string;
      /** Where the compressed plan and the compressed schemas of its types are written. */
      readonly compressedPlan: string;
      readonly compressedSchemas: string;
      readonly isRefreshOnly: boolean;
      /** The names of the variables that have values. */
      readonly variables: readonly string[];
      /** What policies read besides the plan, and where their input is written; null without policies. */
      readonly policyInput: { readonly run: object; readonly path: string } | null;
    }
  | { readonly type: 'ReadState'; readonly state: string };

type DocumentResults = {
  readonly ReadPlan: {
    readonly counts: ChangeCounts;
    /** What a plan that only refreshes has found; null for other plans. */
    readonly assessed: AssessedPlan | null;
    readonly hasChanges: boolean;
    /** Whether terraform has generated configuration for imported resources. */
    readonly hasGeneratedConfiguration: boolean;
    /** The variables of the task that the configuration declares. */
    readonly declaredVariables: readonly string[];
    /** What policies must not print; none without policies, and null if it is too much to mask. */
    readonly sensitiveValues: readonly string[] | null;
  };
  readonly ReadState: { readonly serial: number; readonly lineage: string };
};

export type DocumentResult<Type extends DocumentTask['type']> = DocumentResults[Type];
