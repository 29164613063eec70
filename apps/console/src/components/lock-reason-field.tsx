import { TextInput } from '@mantine/core';

type LockReasonFieldProps = {
  readonly value: string;
  readonly error?: string | null;
  readonly onChange: (reason: string) => void;
};

/** Why a person locks workspaces, as the first field of a dialog. */
export const LockReasonField = ({ onChange, ...field }: LockReasonFieldProps) => (
  <TextInput
    label="Reason"
    description="Everybody who sees the lock can read it."
    placeholder="Upgrading the provider"
    data-autofocus
    autoComplete="off"
    {...field}
    onChange={(event) => onChange(event.currentTarget.value)}
  />
);
