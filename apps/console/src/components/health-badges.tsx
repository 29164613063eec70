import { Badge, Group } from '@mantine/core';
import type { AssessmentResult } from '../api/assessment-results.js';

/** What a health assessment has found. */
export const HealthBadges = ({ attributes }: Pick<AssessmentResult, 'attributes'>) => {
  const { succeeded, drifted, 'all-checks-succeeded': isChecked } = attributes;
  if (!succeeded) return <Badge color="red">Could not assess</Badge>;
  return (
    <Group gap="xs">
      <Badge color={drifted ? 'orange' : 'green'}>{drifted ? 'Drifted' : 'No drift'}</Badge>
      {!isChecked && <Badge color="red">Checks failed</Badge>}
    </Group>
  );
};
