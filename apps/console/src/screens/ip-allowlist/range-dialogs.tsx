import { TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { useAddRange, useRemoveRange, useSwitchRange } from '../../api/ip-allowlist-changes.js';
import type { CidrRange } from '../../api/ip-allowlist.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { useForm } from '../../components/form.js';
import { FormDialog } from '../../components/form-dialog.js';
import { reportAndClose } from '../../toasts.js';

/** Those whose requests a list restricts: the members and tokens of the organization, or its agents. */
export type RestrictedCallers = 'organization' | 'agents';

type AddRangeProps = {
  readonly organization: string;
  /** Null for the first range of the organization. */
  readonly list: string | null;
  readonly suggested: string;
  readonly intro: ReactNode;
  readonly onClose: () => void;
};

export const AddRangeDialog = ({ organization, list, suggested, intro, onClose }: AddRangeProps) => {
  const change = useAddRange(organization);
  const form = useForm({ range: suggested, description: '' }, change);
  const { range } = form.trimmed;
  return (
    <FormDialog
      title="Add a range"
      action="Add"
      intro={intro}
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
  readonly restricts: RestrictedCallers;
  /** Whether the list restricts nobody afterwards. */
  readonly opens: boolean;
  readonly onClose: () => void;
};

const EFFECTS = {
  organization: {
    opens: 'It is the last enabled range. The organization will accept requests from every address.',
    refuses: 'The organization will refuse the addresses of this range, from the next request.',
  },
  agents: {
    opens: 'It is the last enabled range. The list will no longer restrict its agents.',
    refuses: 'Agents at the addresses of this range will be refused, from the next request.',
  },
} as const;

const describeEffect = ({ restricts, opens }: Pick<RangeActionProps, 'restricts' | 'opens'>): string =>
  EFFECTS[restricts][opens ? 'opens' : 'refuses'];

export const DisableRangeDialog = (props: RangeActionProps) => {
  const { organization, onClose } = props;
  const { id, attributes } = props.range;
  const change = useSwitchRange(organization);
  return (
    <ConfirmDialog
      title={`Disable ${attributes.range}`}
      action="Disable"
      change={change}
      onConfirm={() => change.mutate({ id, enabled: false }, { onSuccess: onClose })}
      onClose={onClose}
    >
      {describeEffect(props)}
    </ConfirmDialog>
  );
};

export const RemoveRangeDialog = (props: RangeActionProps) => {
  const { organization, onClose } = props;
  const { id, attributes } = props.range;
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
      {enabled ? describeEffect(props) : 'The range is disabled, so nothing else changes.'}
    </ConfirmDialog>
  );
};
