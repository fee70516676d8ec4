;;; hive-outbox-order-test.el --- The order in which the outbox sends  -*- lexical-binding: t; -*-

;;; Commentary:

;; Answers to the same question, and messages in the same thread, reach the
;; store in the order in which the human gave them, even if the first one has
;; to be sent again.  Everything else does not wait for them.

;; Tags: durable one-winner

(require 'hive-outbox)
(require 'hive-outbox-test-help)
(require 'hive-test-help)

(defun hive-outbox-order-test-answer (ask-id response-id)
  "Answer ASK-ID under RESPONSE-ID."
  (hive-outbox-add ask-id "hivemind-response"
                   (list :ask_id ask-id :decision "yes" :response_id response-id
                         :store_id "store-1")
                   "yes"))

(defun hive-outbox-order-test-post (id &rest place)
  "Post a message with ID to PLACE, a plist of request parameters."
  (hive-outbox-add nil "message/post"
                   (append (list :message_id id :response_id id :body "hello"
                                 :store_id "store-1")
                           place)
                   "hello"))

(defun hive-outbox-order-test-sent (trouble build)
  "Return the ids that reach the store after BUILD filled the outbox, in order.
TROUBLE is an alist of ids and the errors that they meet first.
Whoever has to be tried again waits until all others went."
  (let ((stored nil) (connected nil)
        (hive-sidecar-info '(:store_id "store-1")))
    (cl-letf (((symbol-function 'hive-sidecar-connected-p) (lambda () connected))
              ((symbol-function 'hive-rpc-request)
               (lambda (_method params &rest callbacks)
                 (let* ((id (plist-get params :response_id))
                        (errors (assoc id trouble)))
                   (if (cdr errors)
                       (funcall (plist-get callbacks :error) (pop (cdr errors)))
                     (push id stored)
                     (funcall (plist-get callbacks :success) nil))))))
      (hive-outbox-test-offline
        (funcall build)
        (setq connected t)
        (hive-outbox-flush)
        ;; A new connection sends what the last one failed to send.
        (dotimes (_ 4) (hive-outbox-connected))
        (should-not (hive-outbox-entries 'pending))
        (setq connected nil)))
    (nreverse stored)))

(defconst hive-outbox-order-test-timeout '(:code -1 :name timeout :text "No answer"))
(defconst hive-outbox-order-test-internal '(:code -32603 :name nil :text "Internal error"))

(ert-deftest hive-outbox-order-about-one-question-holds-after-a-timeout ()
  (should (equal (hive-outbox-order-test-sent
                  (list (list "a1" hive-outbox-order-test-timeout hive-outbox-order-test-timeout))
                  (lambda ()
                    (hive-outbox-order-test-answer "a" "a1")
                    (hive-outbox-order-test-answer "a" "a2")
                    (hive-outbox-order-test-answer "b" "b1")
                    (hive-outbox-order-test-answer "a" "a3")))
                 '("b1" "a1" "a2" "a3"))))

(ert-deftest hive-outbox-order-holds-after-an-internal-error-and-ends-with-a-rejection ()
  (let ((oops hive-outbox-order-test-internal))
    (should (equal (hive-outbox-order-test-sent
                    (list (list "a1" oops oops oops oops))
                    (lambda ()
                      (hive-outbox-order-test-answer "a" "a1")
                      (hive-outbox-order-test-answer "a" "a2")
                      (hive-outbox-order-test-answer "b" "b1")))
                   ;; Its fourth error rejects a1, so a2 no longer waits for it.
                   '("b1" "a2")))))

(ert-deftest hive-outbox-order-a-refused-answer-delays-no-other ()
  (should (equal (hive-outbox-order-test-sent
                  '(("a1" (:code -32002 :name prompt_not_found :text "There is no question a.")))
                  (lambda ()
                    (hive-outbox-order-test-answer "a" "a1")
                    (hive-outbox-order-test-answer "a" "a2")))
                 '("a2"))))

(ert-deftest hive-outbox-order-holds-in-a-conversation-however-its-project-is-named ()
  (let* ((root (file-name-as-directory (make-temp-file "hive-test-project" t)))
         (git (expand-file-name ".git" root)))
    (make-directory git)
    (unwind-protect
        (should (equal (hive-outbox-order-test-sent
                        (list (list "m1" hive-outbox-order-test-timeout))
                        (lambda ()
                          (hive-outbox-order-test-post "m1" :directory root)
                          (hive-outbox-order-test-post "m2" :project_dir git)
                          (hive-outbox-order-test-post "e1")
                          (hive-outbox-order-test-post "x1" :project_dir "/elsewhere/.git")
                          (hive-outbox-order-test-post "m3" :directory root)))
                       '("e1" "x1" "m1" "m2" "m3")))
      (delete-directory root t))))

(ert-deftest hive-outbox-order-what-a-dead-emacs-left-goes-first ()
  (should (equal (hive-outbox-order-test-sent
                  nil
                  (lambda ()
                    (hive-outbox-order-test-answer "a" "r-new")
                    (hive-outbox-test-left (hive-outbox-test-dead-pid) 1700000000
                                           (hive-outbox-test-record "a"))
                    (hive-outbox-open)))
                 '("r-a" "r-new"))))

(ert-deftest hive-outbox-order-holds-at-a-real-sidecar ()
  (hive-test-connected
    (let ((one (plist-get (hive-test-call 'fake/ask nil) :ask_id))
          (other (plist-get (hive-test-call 'fake/ask nil) :ask_id)))
      (cl-letf (((symbol-function 'expt) (lambda (&rest _) 0.05)))
        (hive-test-call 'fake/plan '(:method "hivemind-response" :outcomes
                                     [(:code -32603 :message "Internal error")]))
        (hive-outbox-order-test-answer one "one-1")
        (hive-outbox-order-test-answer one "one-2")
        (hive-outbox-order-test-answer other "other-1")
        (hive-test-wait 5 (null (hive-outbox-entries 'pending))))
      (should (equal (mapcar (lambda (answer) (plist-get answer :response_id)) (hive-test-answers))
                     '("other-1" "one-1" "one-2"))))))
