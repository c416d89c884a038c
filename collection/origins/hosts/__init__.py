"""What GitLab and GitHub have in common: HTTP with manners, and answers that are not trusted."""
