import { Checkbox, Group, Radio, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useChangeTeam } from '../../api/teams.js';
import { Card } from '../../components/card.js';
import { CopyableId } from '../../components/copy.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { PermittedButton } from '../../components/permitted-button.js';
import { SettingsCard, useSettings } from '../../components/settings-card.js';
import { useIsOwnersTeam, useShownTeam, type TeamProps } from './shown-team.js';

const DeleteTeamDialog = lazyComponent(() => import('./delete-team-dialog.js'), 'DeleteTeamDialog');

const NO_CHANGE = 'You need a team that may manage teams, or to be an owner of the organization.';
const ONLY_OWNERS = 'You need to be an owner of the organization.';

type SettingsProps = TeamProps & { readonly isOwnersTeam: boolean };

const TeamCard = ({ organization, team, isOwnersTeam }: SettingsProps) => {
  const { attributes } = team;
  const { permissions, name, visibility } = attributes;
  const present = {
    name,
    visibility,
    'sso-team-id': attributes['sso-team-id'] ?? '',
    'allow-member-token-management': attributes['allow-member-token-management'],
  };
  const form = useSettings(present, useChangeTeam(organization, team.id));
  return (
    <SettingsCard
      title="Settings"
      form={form}
      // Owners may change the other settings of their own team.
      canChange={permissions[isOwnersTeam ? 'can-update-membership' : 'can-update-visibility']}
      reason={isOwnersTeam ? ONLY_OWNERS : NO_CHANGE}
    >
      <TextInput
        label="Name"
        required
        maw={420}
        disabled={isOwnersTeam}
        description={isOwnersTeam ? 'The team that owns the organization keeps its name.' : undefined}
        {...form.text('name')}
      />
      <Radio.Group label="Visible to" {...form.choice('visibility')}>
        <Stack gap="xs" mt="xs">
          <Radio value="organization" label="Every member of the organization" disabled={isOwnersTeam} />
          <Radio
            value="secret"
            label="Its members and owners only"
            description="Also teams with the right Access secret teams"
            disabled={isOwnersTeam}
          />
        </Stack>
      </Radio.Group>
      <TextInput
        label="SSO team id"
        description="The group of the identity provider whose members are in this team. Empty: no group."
        maw={420}
        {...form.text('sso-team-id')}
      />
      <Checkbox
        label="Members may manage the tokens of the team"
        description="Otherwise only people who manage teams may do so."
        {...form.checkbox('allow-member-token-management')}
      />
    </SettingsCard>
  );
};

const DeletionCard = ({ organization, team, isOwnersTeam }: SettingsProps) => {
  const [isDeleting, dialog] = useDisclosure(false);
  return (
    <Card title="Deletion">
      <Group justify="space-between">
        <Text size="sm">The members lose the access of the team, and its tokens end.</Text>
        <PermittedButton
          color="red"
          variant="light"
          isPermitted={team.attributes.permissions['can-destroy']}
          reason={isOwnersTeam ? 'Nobody can delete the team that owns the organization.' : NO_CHANGE}
          command="Delete the team"
          onClick={dialog.open}
        >
          Delete the team
        </PermittedButton>
      </Group>
      {isDeleting && <DeleteTeamDialog organization={organization} team={team} onClose={dialog.close} />}
    </Card>
  );
};

const TeamSettings = (props: TeamProps) => {
  const isOwnersTeam = useIsOwnersTeam(props);
  if (isOwnersTeam === undefined) return null;
  return (
    <Stack>
      <TeamCard {...props} isOwnersTeam={isOwnersTeam} />
      <Card title="Id">
        <CopyableId id={props.team.id} />
      </Card>
      <DeletionCard {...props} isOwnersTeam={isOwnersTeam} />
    </Stack>
  );
};

/** The name of a team, who sees it, and its deletion. */
export const TeamSettingsScreen = () => {
  const team = useShownTeam();
  return team && <TeamSettings {...team} />;
};
