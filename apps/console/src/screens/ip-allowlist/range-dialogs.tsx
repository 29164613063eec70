import { Text, TextInput } from '@mantine/core';
import {
  useAddRange,
  useRemoveRange,
  useSwitchRange,
  type CidrRange,
  type IpAllowlist,
} from '../../api/ip-allowlist.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { useForm } from '../../components/form.js';
import { FormDialog } from '../../components/form-dialog.js';
import { reportAndClose } from '../../toasts.js';

type AddRangeProps = {
  readonly organization: string;
  readonly allowlist: IpAllowlist;
  readonly onClose: () => void;
};

/** Adds a range. The first one begins with the person's own address, because a list without it is refused. */
export const AddRangeDialog = ({ organization, allowlist, onClose }: AddRangeProps) => {
  const { id: list, address, ranges } = allowlist;
  const isFirst = !ranges.some(({ attributes }) => attributes.enabled);
  const change = useAddRange(organization);
  const form = useForm({ range: isFirst ? (address ?? '') : '', description: '' }, change);
  const { range } = form.trimmed;
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
      form={form}
      onSubmit={() =>
        change.mutate({ list, ...form.trimmed }, reportAndClose(`The range ${range} is in the list.`, onClose))
      }
      onClose={onClose}
    >
      <TextInput
        label="Range"
        description="An IPv4 or IPv6 network, such as 203.0.113.0/24 or 2001:db8::/32, or one address"
        required
        data-autofocus
        spellCheck={false}
        {...form.text('range')}
      />
      <TextInput label="Description" {...form.text('description')} />
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

export const DisableRangeDialog = ({ organization, range: { id, attributes }, opens, onClose }: RangeActionProps) => {
  const change = useSwitchRange(organization);
  return (
    <ConfirmDialog
      title={`Disable ${attributes.range}`}
      action="Disable"
      change={change}
      onConfirm={() => change.mutate({ id, enabled: false }, { onSuccess: onClose })}
      onClose={onClose}
    >
      {describeEffect(opens)}
    </ConfirmDialog>
  );
};

export const RemoveRangeDialog = ({ organization, range: { id, attributes }, opens, onClose }: RangeActionProps) => {
  const change = useRemoveRange(organization);
  const { range, enabled } = attributes;
  return (
    <ConfirmDialog
      title={`Remove ${range}`}
      action="Remove"
      change={change}
      onConfirm={() => change.mutate(id, reportAndClose(`The range ${range} is no longer in the list.`, onClose))}
      onClose={onClose}
    >
      {enabled ? describeEffect(opens) : 'The range is disabled, so nothing else changes.'}
    </ConfirmDialog>
  );
};
