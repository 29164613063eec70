import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { workspaceQuery } from '../../api/workspaces.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { LoadingLines } from '../../components/states.js';
import { GeneralCard } from './general-card.js';
import { SETTING_PARTS } from './setting-card.js';
import classes from './workspace-settings.module.css';

/** Fields that choose from a list are 30 kB, which the first card does not need. */
const SettingCards = lazyComponent(
  () => import('./setting-cards.js'),
  'SettingCards',
  <LoadingLines count={8} height={36} />,
);

/** Links to the cards, beside them in a wide window. */
const PartLinks = () => (
  <nav aria-label="Settings of the workspace" className={classes['parts']}>
    {Object.entries(SETTING_PARTS).map(([id, label]) => (
      <Link key={id} to="." hash={id} replace className={classes['link']}>
        {label}
      </Link>
    ))}
  </nav>
);

/** The settings of a workspace. A card has those that are saved together. */
export const WorkspaceSettingsScreen = () => {
  const { organization, workspace: name } = useParams({ from: '/$organization/workspaces/$workspace/settings' });
  const { data } = useQuery(workspaceQuery(organization, name));
  if (!data) return null;
  const props = { organization, workspace: data };
  return (
    <div className={classes['frame']}>
      <Stack className={classes['cards']}>
        <div id="general" className={classes['part']}>
          <GeneralCard {...props} />
        </div>
        <SettingCards {...props} />
      </Stack>
      <PartLinks />
    </div>
  );
};
