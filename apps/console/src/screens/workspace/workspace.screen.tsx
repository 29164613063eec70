import { Page } from '../../components/page.js';

export const WorkspaceScreen = () => <Page title="Workspace">…</Page>;
