"""What would change, and the plan that approves it; pure."""
