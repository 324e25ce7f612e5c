def run(order, private):
    return 70
