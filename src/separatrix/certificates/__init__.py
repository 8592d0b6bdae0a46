"""What is proved: certificates, how they are made, and how they are verified."""
