import { Alert, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { describeHolder } from '../../api/included.js';
import { presentLockQuery } from '../../api/locks.js';
import type { WorkspaceDocument } from '../../api/workspaces.js';
import { LockIcon } from '../../components/icons.js';
import { LongText } from '../../components/long-text.js';
import { TextLink } from '../../components/text-link.js';
import { Time } from '../../components/times.js';

type LockNoticeProps = { readonly organization: string; readonly workspace: WorkspaceDocument };

/** Who has locked the workspace, why, and until when. */
export const LockNotice = ({ organization, workspace }: LockNoticeProps) => {
  const { data: lock } = useQuery(presentLockQuery(organization, workspace.data));
  const lockedBy = workspace.data.relationships['locked-by'].data;
  const isRun = lockedBy?.type === 'runs';
  const described = describeHolder(workspace, lockedBy);
  const holder = isRun ? described : (lock?.attributes['locked-by-name'] ?? described);
  const reason = workspace.data.attributes['locked-reason'];
  const end = workspace.data.attributes['lock-expires-at'];
  const noReason = isRun ? 'The run unlocks the workspace when it ends.' : 'The holder gave no reason.';
  return (
    <Alert color="orange" variant="light" icon={<LockIcon />} title={`Locked by ${holder}`}>
      <Text size="sm" component="div">
        {lock && (
          <div>
            Locked <Time value={lock.attributes['locked-at']} />.
            {end !== null && (
              <>
                {' '}
                The lock ends by itself <Time value={end} />.
              </>
            )}
          </div>
        )}
        <LongText text={reason ? `Reason: ${reason}` : noReason} />
        {isRun && (
          <TextLink
            to="/$organization/workspaces/$workspace/runs/$run"
            params={{ organization, workspace: workspace.data.attributes.name, run: lockedBy.id }}
          >
            Open the run
          </TextLink>
        )}
      </Text>
    </Alert>
  );
};
