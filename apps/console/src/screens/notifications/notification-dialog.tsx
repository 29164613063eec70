import { Checkbox, Input, PasswordInput, SegmentedControl, Stack, TextInput } from '@mantine/core';
import type { NotifyingOwner } from '../../api/notifications.js';
import { ChangedNotice } from '../../components/changed-notice.js';
import { FormDialog } from '../../components/form-dialog.js';
import { findFieldProblem } from '../../components/problems.js';
import { useNotificationForm, type NotificationFormProps, type NotificationValues } from './notification-form.js';
import {
  DESTINATIONS,
  formatTrigger,
  SENT_TRIGGERS,
  type NotificationDestination,
  type NotificationTrigger,
} from './notification-words.js';
import { RecipientsField } from './recipients-field.js';

type FieldsProps = {
  readonly values: NotificationValues;
  readonly isNew: boolean;
  readonly error: Error | null;
  readonly onChange: (values: Partial<NotificationValues>) => void;
};

const DestinationField = ({ values, error, onChange }: FieldsProps) => (
  <Input.Wrapper label="Destination" labelElement="div" error={findFieldProblem(error, 'destination-type')}>
    <SegmentedControl
      fullWidth
      transitionDuration={0}
      aria-label="Destination"
      data={[...DESTINATIONS]}
      value={values.destination}
      onChange={(destination) => onChange({ destination: destination as NotificationDestination })}
    />
  </Input.Wrapper>
);

const URL_HINTS: Readonly<Partial<Record<NotificationDestination, string>>> = {
  generic: 'The server sends a request with JSON to this address.',
  slack: 'The address of an incoming webhook. Everybody who has it can post to your channel.',
  'microsoft-teams': 'The address of a workflow that posts to a channel. Everybody who has it can post there.',
};

const UrlField = ({ values, error, onChange }: FieldsProps) => (
  <TextInput
    label="URL"
    description={URL_HINTS[values.destination]}
    required
    inputMode="url"
    autoComplete="off"
    spellCheck={false}
    placeholder="https://hooks.example.com/cadastre"
    value={values.url}
    onChange={(event) => onChange({ url: event.currentTarget.value })}
    error={findFieldProblem(error, 'url')}
  />
);

/** The API never returns the key, and does not say whether there is one. */
const TokenField = ({ values, isNew, error, onChange }: FieldsProps) => (
  <>
    <PasswordInput
      label="Key of the signature"
      description={`Your service checks with it that a request is from this server. Nobody can read it again.${isNew ? '' : ' An empty field keeps the present key.'}`}
      autoComplete="new-password"
      disabled={values.isTokenRemoved}
      visibilityToggleButtonProps={{ 'aria-label': 'Show the key' }}
      value={values.token}
      onChange={(event) => onChange({ token: event.currentTarget.value })}
      error={findFieldProblem(error, 'token')}
    />
    {!isNew && (
      <Checkbox
        label="Send requests without a signature"
        description="Removes the present key."
        checked={values.isTokenRemoved}
        onChange={(event) => onChange({ isTokenRemoved: event.currentTarget.checked, token: '' })}
      />
    )}
  </>
);

type OwnerFieldsProps = FieldsProps & { readonly owner: NotifyingOwner };

/** Triggers that nothing sends stay as they are. */
const TriggersField = ({ owner, values, error, onChange }: OwnerFieldsProps) => {
  const sent = SENT_TRIGGERS[owner.kind];
  const others = values.triggers.filter((trigger) => !sent.includes(trigger));
  if (sent.length === 0) return null;
  return (
    <Checkbox.Group
      label="Send when"
      value={values.triggers.filter((trigger) => sent.includes(trigger))}
      onChange={(chosen) => onChange({ triggers: [...others, ...(chosen as NotificationTrigger[])] })}
      error={findFieldProblem(error, 'triggers')}
    >
      <Stack gap={8} mt={4}>
        {sent.map((trigger) => (
          <Checkbox key={trigger} value={trigger} label={formatTrigger(trigger)} />
        ))}
      </Stack>
    </Checkbox.Group>
  );
};

const EnabledField = ({ values, error, onChange }: FieldsProps) => (
  <Checkbox
    label="Enabled"
    description={
      values.destination === 'email'
        ? 'If this is off, nothing is sent.'
        : 'If this is on, the server sends a test before it saves. The destination must accept it.'
    }
    checked={values.enabled}
    onChange={(event) => onChange({ enabled: event.currentTarget.checked })}
    error={findFieldProblem(error, 'enabled')}
  />
);

type NotificationFieldsProps = OwnerFieldsProps & { readonly organization: string };

const NotificationFields = ({ organization, ...props }: NotificationFieldsProps) => {
  const { owner, values, isNew, error, onChange } = props;
  const ofTeam = owner.kind === 'team' ? ' Without a choice, all members of the team get them.' : '';
  return (
    <>
      <TextInput
        label="Name"
        required
        data-autofocus
        autoComplete="off"
        value={values.name}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
        error={findFieldProblem(error, 'name')}
      />
      {isNew && <DestinationField {...props} />}
      {values.destination === 'email' ? (
        <RecipientsField
          organization={organization}
          description={`Members of the organization. No recipient sees another one.${ofTeam}`}
          users={values.users}
          error={findFieldProblem(error, 'users') ?? findFieldProblem(error, 'id')}
          onChange={(users) => onChange({ users })}
        />
      ) : (
        <UrlField {...props} />
      )}
      {values.destination === 'generic' && <TokenField {...props} />}
      <TriggersField {...props} />
      <EnabledField {...props} />
    </>
  );
};

/** Creates a notification configuration, or changes one. */
export const NotificationDialog = (props: NotificationFormProps) => {
  const { organization, owner, notification, onClose } = props;
  const form = useNotificationForm(props);
  return (
    <FormDialog
      title={notification ? `Change ${notification.attributes.name}` : 'New notification'}
      action="Save"
      form={form}
      onSubmit={form.save}
      onClose={onClose}
    >
      {form.isOutdated && (
        <ChangedNotice what="notification" onReset={form.reset}>
          Another person, or an earlier attempt of yours, has changed it. If you save, what you have entered replaces
          the present values. The rest stays as it is now.
        </ChangedNotice>
      )}
      <NotificationFields
        organization={organization}
        owner={owner}
        values={form.values}
        isNew={notification === null}
        error={form.error}
        onChange={form.enter}
      />
    </FormDialog>
  );
};
