import { TextInput } from '@mantine/core';

type LockReasonFieldProps = { readonly value: string; readonly onChange: (reason: string) => void };

/** Why a person locks workspaces, as the first field of a dialog. */
export const LockReasonField = ({ value, onChange }: LockReasonFieldProps) => (
  <TextInput
    label="Reason"
    description="Everybody who sees the lock can read it."
    placeholder="Upgrading the provider"
    data-autofocus
    autoComplete="off"
    value={value}
    onChange={(event) => onChange(event.currentTarget.value)}
  />
);
