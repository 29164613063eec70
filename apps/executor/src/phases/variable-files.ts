import type { JobVariable } from '../api/phase-job.js';

/** A value of a variable of the configuration. */
export type VariableValue = Pick<JobVariable, 'key' | 'value' | 'hcl'>;

type VariableFile = { readonly name: string; readonly content: string };

/**
 * Returns the files for `-var-file`. Values in the configuration language are written as they are, others as JSON, so that
 * no character in them has a meaning.
 */
export const renderVariableFiles = (variables: readonly VariableValue[]): readonly VariableFile[] => {
  const expressions = variables.filter(({ hcl }) => hcl);
  const texts = variables.filter(({ hcl }) => !hcl);
  return [
    ...(texts.length > 0
      ? [
          {
            name: 'texts.tfvars.json',
            // `__proto__` is a key like any other.
            content: `{${texts.map(({ key, value }) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',')}}`,
          },
        ]
      : []),
    ...(expressions.length > 0
      ? [
          {
            name: 'expressions.tfvars',
            content: expressions.map(({ key, value }) => `${key} = ${value}\n`).join(''),
          },
        ]
      : []),
  ];
};
