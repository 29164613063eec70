import { TextInput } from '@mantine/core';
import { findFieldProblem } from './problems.js';

type NameFieldProps = {
  readonly value: string;
  readonly description?: string;
  /** The refusal of the change, which can be about other fields too. */
  readonly error: Error | null;
  readonly onChange: (name: string) => void;
};

/** The name of a resource, as the first field of a dialog. */
export const NameField = ({ value, description, error, onChange }: NameFieldProps) => (
  <TextInput
    label="Name"
    description={description}
    required
    data-autofocus
    autoComplete="off"
    value={value}
    onChange={(event) => onChange(event.currentTarget.value)}
    error={findFieldProblem(error, 'name')}
  />
);
