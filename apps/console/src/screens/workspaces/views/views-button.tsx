import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { ChevronDownIcon } from '../../../components/icons.js';
import { lazyComponent } from '../../../components/lazy-component.js';
import type { ListSearch } from '../workspaces.search.js';
import type { OpenedView } from './opened-view.js';

const ViewsDialog = lazyComponent(() => import('./views-dialog.js'), 'ViewsDialog');

type ViewsButtonProps = {
  readonly organization: string;
  readonly search: ListSearch;
  readonly opened: OpenedView;
};

/** Names the open view, and opens the others. */
export const ViewsButton = ({ organization, search, opened }: ViewsButtonProps) => {
  const [isOpen, dialog] = useDisclosure(false);
  const { view, isChanged } = opened;
  const name = view ? `View: ${view.attributes.name}${isChanged ? ' (changed)' : ''}` : 'Views';
  return (
    <>
      <Button
        variant="default"
        maw="100%"
        aria-haspopup="dialog"
        rightSection={<ChevronDownIcon size={14} />}
        onClick={dialog.open}
      >
        {name}
      </Button>
      {isOpen && <ViewsDialog organization={organization} search={search} opened={opened} onClose={dialog.close} />}
    </>
  );
};
