import { Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import {
  useAddRange,
  useRemoveRange,
  useSwitchRange,
  type CidrRange,
  type IpAllowlist,
} from '../../api/ip-allowlist.js';
import { Dialog } from '../../components/dialog.js';
import { DialogActions } from '../../components/dialog-actions.js';
import { FormDialog } from '../../components/form-dialog.js';
import { findFieldProblem, FormProblems } from '../../components/problems.js';
import { showToast } from '../../components/toasts.js';

type AddRangeProps = {
  readonly organization: string;
  readonly allowlist: IpAllowlist;
  readonly onClose: () => void;
};

/** Adds a range. The first one begins with the person's own address, because a list without it is refused. */
export const AddRangeDialog = ({ organization, allowlist, onClose }: AddRangeProps) => {
  const { id: list, address, ranges } = allowlist;
  const isFirst = !ranges.some(({ attributes }) => attributes.enabled);
  const [range, setRange] = useState(isFirst ? (address ?? '') : '');
  const [description, setDescription] = useState('');
  const change = useAddRange(organization);
  const add = () => {
    const onSuccess = () => {
      showToast({ kind: 'success', message: `The range ${range.trim()} is in the list.` });
      onClose();
    };
    change.mutate({ list, range: range.trim(), description: description.trim() }, { onSuccess });
  };
  return (
    <FormDialog
      title="Add a range"
      action="Add"
      intro={
        isFirst && (
          <Text size="sm">
            With the first range, the organization refuses all other addresses, from the next request. The range must
            contain your own address{address === null ? '' : `, ${address}`}.
          </Text>
        )
      }
      isPending={change.isPending}
      error={change.error}
      fields={['range', 'description']}
      onSubmit={add}
      onClose={onClose}
    >
      <TextInput
        label="Range"
        description="An IPv4 or IPv6 network, such as 203.0.113.0/24 or 2001:db8::/32, or one address"
        required
        data-autofocus
        autoComplete="off"
        spellCheck={false}
        value={range}
        onChange={(event) => setRange(event.currentTarget.value)}
        error={findFieldProblem(change.error, 'range')}
      />
      <TextInput
        label="Description"
        autoComplete="off"
        value={description}
        onChange={(event) => setDescription(event.currentTarget.value)}
        error={findFieldProblem(change.error, 'description')}
      />
    </FormDialog>
  );
};

type RangeActionProps = {
  readonly organization: string;
  readonly range: CidrRange;
  /** Whether the organization accepts every address afterwards. */
  readonly opens: boolean;
  readonly onClose: () => void;
};

const describeEffect = (opens: boolean): string =>
  opens
    ? 'It is the last enabled range. The organization will accept requests from every address.'
    : 'The organization will refuse the addresses of this range, from the next request.';

export const DisableRangeDialog = ({ organization, range, opens, onClose }: RangeActionProps) => {
  const change = useSwitchRange(organization);
  const { range: text } = range.attributes;
  return (
    <Dialog onClose={onClose} title={`Disable ${text}`}>
      <Stack>
        <Text size="sm">{describeEffect(opens)}</Text>
        <FormProblems error={change.error} />
        <DialogActions
          action="Disable"
          isDangerous
          isPending={change.isPending}
          onAction={() => change.mutate({ id: range.id, enabled: false }, { onSuccess: onClose })}
          onClose={onClose}
        />
      </Stack>
    </Dialog>
  );
};

export const RemoveRangeDialog = ({ organization, range, opens, onClose }: RangeActionProps) => {
  const change = useRemoveRange(organization);
  const { range: text, enabled } = range.attributes;
  const remove = () => {
    const onSuccess = () => {
      showToast({ kind: 'success', message: `The range ${text} is no longer in the list.` });
      onClose();
    };
    change.mutate(range.id, { onSuccess });
  };
  return (
    <Dialog onClose={onClose} title={`Remove ${text}`}>
      <Stack>
        <Text size="sm">{enabled ? describeEffect(opens) : 'The range is disabled, so nothing else changes.'}</Text>
        <FormProblems error={change.error} />
        <DialogActions action="Remove" isDangerous isPending={change.isPending} onAction={remove} onClose={onClose} />
      </Stack>
    </Dialog>
  );
};
