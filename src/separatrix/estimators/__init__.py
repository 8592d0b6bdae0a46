"""scikit-learn's face of the library: validate -> space -> rule or solver -> attributes."""
