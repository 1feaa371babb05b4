// Questions that every lake asks, as addresses. The filters of their pages answer them.

export const READY_VIEWS = [
  {
    name: 'Tables with more than 20 % more files within 5 minutes',
    href: '/?grew=0.2&within=5m&sort=growth',
  },
  { name: 'Tables whose null share jumped', href: '/?code=null_share_jump' },
  { name: 'Commits that added 10,000 files or more', href: '/commits?min=10000&sort=files' },
] as const;
