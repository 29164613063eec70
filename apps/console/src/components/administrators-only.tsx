import { Button, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { SiteIcon } from './icons.js';
import { EmptyState } from './states.js';

/** Replaces a screen of the site for people who do not administer it. */
export const AdministratorsOnly = () => (
  <EmptyState icon={SiteIcon} title="This screen is for site administrators">
    <Text>Your account does not administer this site. Ask a site administrator for what you need to know.</Text>
    <Group justify="center">
      <Button renderRoot={(props) => <Link {...props} to="/" />}>Go to your organizations</Button>
    </Group>
  </EmptyState>
);
