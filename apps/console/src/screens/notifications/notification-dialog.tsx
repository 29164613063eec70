import { Checkbox, Input, PasswordInput, SegmentedControl, Stack, TextInput } from '@mantine/core';
import type { NotifyingOwner } from '../../api/notifications.js';
import { ChangedNotice } from '../../components/changed-notice.js';
import { FormDialog } from '../../components/form-dialog.js';
import { findFieldProblem } from '../../components/problems.js';
import { useNotificationForm, type NotificationFormProps } from './notification-form.js';
import {
  DESTINATIONS,
  formatTrigger,
  SENT_TRIGGERS,
  type NotificationDestination,
  type NotificationTrigger,
} from './notification-words.js';
import { RecipientsField } from './recipients-field.js';

type FieldsProps = { readonly form: ReturnType<typeof useNotificationForm>['form']; readonly isNew: boolean };

const DestinationField = ({ form }: FieldsProps) => (
  <Input.Wrapper label="Destination" labelElement="div" error={findFieldProblem(form.error, 'destination-type')}>
    <SegmentedControl
      fullWidth
      transitionDuration={0}
      aria-label="Destination"
      data={[...DESTINATIONS]}
      value={form.values.destination}
      onChange={(destination) => form.enter({ destination: destination as NotificationDestination })}
    />
  </Input.Wrapper>
);

const URL_HINTS: Readonly<Partial<Record<NotificationDestination, string>>> = {
  generic: 'The server sends a request with JSON to this address.',
  slack: 'The address of an incoming webhook. Everybody who has it can post to your channel.',
  'microsoft-teams': 'The address of a workflow that posts to a channel. Everybody who has it can post there.',
};

const UrlField = ({ form }: FieldsProps) => (
  <TextInput
    label="URL"
    description={URL_HINTS[form.values.destination]}
    required
    inputMode="url"
    spellCheck={false}
    placeholder="https://hooks.example.com/cadastre"
    {...form.text('url')}
  />
);

/** The API never returns the key, and does not say whether there is one. */
const TokenField = ({ form, isNew }: FieldsProps) => (
  <>
    <PasswordInput
      label="Key of the signature"
      description={`Your service checks with it that a request is from this server. Nobody can read it again.${isNew ? '' : ' An empty field keeps the present key.'}`}
      disabled={form.values.isTokenRemoved}
      visibilityToggleButtonProps={{ 'aria-label': 'Show the key' }}
      {...form.text('token')}
      autoComplete="new-password"
    />
    {!isNew && (
      <Checkbox
        label="Send requests without a signature"
        description="Removes the present key."
        checked={form.values.isTokenRemoved}
        onChange={(event) => form.enter({ isTokenRemoved: event.currentTarget.checked, token: '' })}
      />
    )}
  </>
);

type OwnerFieldsProps = FieldsProps & { readonly owner: NotifyingOwner };

/** Triggers that nothing sends stay as they are. */
const TriggersField = ({ owner, form: { values, error, enter } }: OwnerFieldsProps) => {
  const sent = SENT_TRIGGERS[owner.kind];
  const others = values.triggers.filter((trigger) => !sent.includes(trigger));
  if (sent.length === 0) return null;
  return (
    <Checkbox.Group
      label="Send when"
      value={values.triggers.filter((trigger) => sent.includes(trigger))}
      onChange={(chosen) => enter({ triggers: [...others, ...(chosen as NotificationTrigger[])] })}
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

const EnabledField = ({ form }: FieldsProps) => (
  <Checkbox
    label="Enabled"
    description={
      form.values.destination === 'email'
        ? 'If this is off, nothing is sent.'
        : 'If this is on, the server sends a test before it saves. The destination must accept it.'
    }
    {...form.checkbox('enabled')}
  />
);

type NotificationFieldsProps = OwnerFieldsProps & { readonly organization: string };

const NotificationFields = ({ organization, ...props }: NotificationFieldsProps) => {
  const { owner, form, isNew } = props;
  const ofTeam = owner.kind === 'team' ? ' Without a choice, all members of the team get them.' : '';
  return (
    <>
      <TextInput label="Name" required data-autofocus {...form.text('name')} />
      {isNew && <DestinationField {...props} />}
      {form.values.destination === 'email' ? (
        <RecipientsField
          organization={organization}
          description={`Members of the organization. No recipient sees another one.${ofTeam}`}
          users={form.values.users}
          error={findFieldProblem(form.error, 'users') ?? findFieldProblem(form.error, 'id')}
          onChange={(users) => form.enter({ users })}
        />
      ) : (
        <UrlField {...props} />
      )}
      {form.values.destination === 'generic' && <TokenField {...props} />}
      <TriggersField {...props} />
      <EnabledField {...props} />
    </>
  );
};

/** Creates a notification configuration, or changes one. */
export const NotificationDialog = (props: NotificationFormProps) => {
  const { organization, owner, notification, onClose } = props;
  const { form, isOutdated, reset, save } = useNotificationForm(props);
  return (
    <FormDialog
      title={notification ? `Change ${notification.attributes.name}` : 'New notification'}
      action="Save"
      form={form}
      onSubmit={save}
      onClose={onClose}
    >
      {isOutdated && (
        <ChangedNotice what="notification" onReset={reset}>
          Another person, or an earlier attempt of yours, has changed it. If you save, what you have entered replaces
          the present values. The rest stays as it is now.
        </ChangedNotice>
      )}
      <NotificationFields organization={organization} owner={owner} form={form} isNew={notification === null} />
    </FormDialog>
  );
};
