/** The members of a plan with values, and those that mark which values are sensitive. */
const MARKED_MEMBERS = [
  ['before', 'before_sensitive'],
  ['after', 'after_sensitive'],
  ['values', 'sensitive_values'],
  ['config_values', 'config_sensitive'],
] as const;

/** Shorter texts occur everywhere. */
const SHORTEST = 4;

type PlanNode = Readonly<Record<string, unknown>>;

const isPlanNode = (value: unknown): value is PlanNode => typeof value === 'object' && value !== null;

const collectTexts = (value: unknown, texts: Set<string>): void => {
  if (isPlanNode(value)) for (const member of Object.values(value)) collectTexts(member, texts);
  else if (typeof value === 'string' || typeof value === 'number') {
    const text = String(value);
    if (text.length >= SHORTEST) texts.add(text);
  }
};

const collectMarked = (value: unknown, mark: unknown, texts: Set<string>): void => {
  if (mark === true) return collectTexts(value, texts);
  if (!isPlanNode(value) || !isPlanNode(mark)) return;
  for (const [key, part] of Object.entries(mark)) collectMarked(value[key], part, texts);
};

const collectSensitive = (node: unknown, texts: Set<string>): void => {
  if (!isPlanNode(node)) return;
  for (const [values, marks] of MARKED_MEMBERS) collectMarked(node[values], node[marks], texts);
  if (node['sensitive'] === true) for (const member of ['value', 'default']) collectTexts(node[member], texts);
  for (const member of Object.values(node)) collectSensitive(member, texts);
};

type PlanWithVariables = {
  readonly variables?: Readonly<Record<string, { readonly value?: unknown }>>;
  readonly configuration?: {
    readonly root_module?: { readonly variables?: Readonly<Record<string, unknown>> };
  };
};

/** The values of variables have no marks. The declarations of the variables have them. */
const collectVariables = ({ variables = {}, configuration }: PlanWithVariables, texts: Set<string>): void => {
  for (const [name, declaration] of Object.entries(configuration?.root_module?.variables ?? {}))
    if (isPlanNode(declaration) && declaration['sensitive'] === true) collectTexts(variables[name]?.value, texts);
};

/** More values, or longer ones, take too much time and memory to mask. */
const MAX_VALUES = 2_000;
const MAX_CHARACTERS = 262_144;

/** Returns the texts and numbers of a plan that terraform marks as sensitive; null if they are too many or too long to mask. */
export const listSensitiveValues = (plan: PlanWithVariables & PlanNode): readonly string[] | null => {
  const texts = new Set<string>();
  collectSensitive(plan, texts);
  collectVariables(plan, texts);
  const characters = [...texts].reduce((sum, { length }) => sum + length, 0);
  return texts.size > MAX_VALUES || characters > MAX_CHARACTERS ? null : [...texts];
};
